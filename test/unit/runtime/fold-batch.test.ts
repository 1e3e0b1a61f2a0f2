// One batch of events: folded in slices, with one merged push request and a Rejected fact for what cannot be folded.

import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import type { Event } from '../../../src/core/event.ts';
import { fold } from '../../../src/core/fold/fold-event.ts';
import { LABELS_MAX } from '../../../src/core/kinds/validate/labels.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { FOLD_SLICE_MS, foldBatch } from '../../../src/runtime/fold-batch.ts';
import { Progress } from '../../../src/runtime/progress.ts';
import { FakeClock } from '../../sim/fake-clock.ts';

const source = 'file/Kubernetes';
const namespace = (seq: number): Event => ({
  ...{ seq, time: seq, source, kind: 'Add' },
  object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `n${seq}` } },
});
const poison = {
  get kind(): string {
    throw new Error('poison');
  },
} as unknown as JsonObject;

/** Each event takes `msEach`, and what is done between two looks at the clock `msBetweenLooks`; the turns of the event loop that other work got meanwhile are counted. */
async function folded(events: readonly Event[], msEach: number, msBetweenLooks = 0) {
  const clock = new FakeClock();
  const seen: (readonly [State, number, State])[] = [];
  const onEvent = (before: State, { seq }: Event, after: State): void => {
    seen.push([before, seq, after]);
    clock.next(clock.now() + msEach);
  };
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  const now = (): number => {
    clock.next(clock.now() + msBetweenLooks);
    return clock.now();
  };
  const looked: Clock = { now, after: (ms, run) => clock.after(ms, run) };
  const options = { clock: looked, log: () => undefined, rejected: new Set<number>(), progress: new Progress(clock) };
  const folding = foldBatch(emptyState, events, { ...options, listeners: [{ onEvent, onFolded: () => undefined }] });
  setImmediate(count);
  const batch = await folding;
  isDone = true;
  return { batch, seen, turns };
}

describe('a batch', () => {
  const events = [1, 2, 3, 4].map(namespace);

  it('lets other work run after each slice, and runs in one if it is short', async () => {
    expect((await folded(events, FOLD_SLICE_MS)).turns).toBeGreaterThanOrEqual(events.length - 1);
    expect((await folded(events, 0)).turns).toBe(0);
  });

  it('judges a large object in steps before it is folded', async () => {
    const labels = Object.fromEntries(Array.from({ length: LABELS_MAX }, (_, i) => [`a${i}`, 'x'.repeat(20)]));
    const large = (apiVersion: string, kind: string, spec: JsonObject): Event => ({
      ...{ seq: 1, time: 1, source, kind: 'Add' },
      object: { apiVersion, kind, metadata: { name: 'a', namespace: 'a', labels }, ...spec },
    });
    const objects = [
      large('networking.istio.io/v1', 'WorkloadEntry', { spec: { address: '1.1.1.1' } }),
      large('v1', 'Secret', { stringData: labels }),
      large('networking.k8s.io/v1', 'Ingress', { spec: {} }),
      large('gateway.networking.k8s.io/v1', 'HTTPRoute', { spec: { parentRefs: [{ name: 'gw' }] } }),
    ];
    const textOf = ({ records }: State): string => canonicalJson([...records.values()] as unknown as Json);
    for (const event of objects) {
      const { batch, turns } = await folded([event], 0, 2 * FOLD_SLICE_MS);
      expect(batch.failures).toEqual([]);
      expect(textOf(batch.state)).toBe(textOf(fold(emptyState, event, new Set()).state));
      expect([...batch.state.records.values()].map(({ refused }) => refused?.problems)).toEqual([undefined]);
      expect(turns).toBeGreaterThanOrEqual(4);
    }
    expect((await folded([namespace(1)], 0, 2 * FOLD_SLICE_MS)).turns).toBeLessThanOrEqual(1);
  });

  it('shows its listeners each event with the states before and after it', async () => {
    const { batch, seen } = await folded(events, 0);
    expect(seen.map(([, seq]) => seq)).toEqual([1, 2, 3, 4]);
    for (const [i, [before]] of seen.entries()) expect(before).toBe(i === 0 ? emptyState : seen[i - 1]![2]);
    expect(batch.state).toBe(seen.at(-1)![2]);
  });

  it('passes over an event that cannot be folded, and asks for a Rejected fact about it', async () => {
    const { batch } = await folded([namespace(1), { ...namespace(2), object: poison } as Event, namespace(3)], 0);
    expect(batch.failures).toEqual([{ source: 'runtime', kind: 'Rejected', rejected: 2, reason: 'poison' }]);
    expect([...batch.state.objects.Namespace.values()].map(({ name }) => name)).toEqual(['n1', 'n3']);
    expect(batch.state.seq).toBe(3);
  });
});
