import { describe, expect, it } from 'vitest';
import type { Steps } from '../../../src/core/base/steps.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { type Encoded, MEMBERS_AT_ONCE } from '../../../src/journal/codec.ts';
import { ENCODED_AT_ONCE, ENCODED_CHARS_AT_ONCE, EncodingLine } from '../../../src/journal/encoding-line.ts';
import { QUEUE_WAITING_MAX } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { countLoopTurns } from '../loop-turns.ts';

const timers = (count: number, source: string): readonly Unrecorded[] =>
  Array.from({ length: count }, (_, i) => ({ source, kind: 'Gap', reason: `${i}`, since: 0, lost: 0 }));

/** Each fact in one step. */
const encoded = (bodyOf: () => string) =>
  // biome-ignore lint/correctness/useYield: one step.
  function* (fact: Unrecorded): Steps<Encoded> {
    return { source: fact.source, kind: fact.kind, body: bodyOf(), fact };
  };

function countingLine(body = '') {
  const counts = { encoded: 0 };
  const bodyOf = (): string => {
    counts.encoded++;
    return body;
  };
  return { line: new EncodingLine(encoded(bodyOf), 'memory'), counts };
}

describe('the encoding queue of a journal', () => {
  it('encodes a large batch in slices, and keeps the order of those behind it', async () => {
    const { line, counts } = countingLine();
    let most = 0;
    let before = 0;
    let running = true;
    const turn = (): void => {
      most = Math.max(most, counts.encoded - before);
      before = counts.encoded;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    const order: string[] = [];
    const pass = (count: number, source: string): Promise<number> =>
      line.pass(timers(count, source), batch => {
        expect(batch.map(({ fact }) => fact)).toEqual(timers(count, source));
        return order.push(source);
      });
    const passes = [pass(1, 'small'), pass(10 * ENCODED_AT_ONCE, 'large'), pass(3, 'second'), pass(600, 'third')];
    expect(order).toEqual(['small']);
    await line.passed();
    expect(order).toEqual(['small', 'large', 'second', 'third']);
    expect(await Promise.all(passes)).toEqual([1, 2, 3, 4]);
    running = false;
    // The last slice of one batch and the first of the next may share a turn, and a small batch between them.
    expect(most).toBeLessThanOrEqual(2 * ENCODED_AT_ONCE + 3);
    void pass(1, 'after');
    expect(order.at(-1)).toBe('after');
  });

  it('lets a batch wait for all before it, also when it comes after one of them has passed', async () => {
    const line = new EncodingLine(
      encoded(() => ''),
      'memory',
    );
    const order: string[] = [];
    const pass = (count: number, source: string): Promise<number> =>
      line.pass(timers(count, source), () => order.push(source));
    const first = pass(ENCODED_AT_ONCE + 1, 'first');
    const second = pass(5 * ENCODED_AT_ONCE, 'second');
    await first;
    void pass(1, 'third');
    expect(order).toEqual(['first']);
    await second;
    await line.passed();
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('encodes the first slice of a large batch at once', async () => {
    const { line, counts } = countingLine();
    const passed = line.pass(timers(3 * ENCODED_AT_ONCE, 'large'), batch => batch.length);
    expect(counts.encoded).toBe(ENCODED_AT_ONCE);
    expect(await passed).toBe(3 * ENCODED_AT_ONCE);
  });

  it('encodes one fact a turn where each becomes a text of some size', async () => {
    const body = 'x'.repeat(ENCODED_CHARS_AT_ONCE);
    const { line, counts } = countingLine(body);
    const passed = line.pass(timers(5, 'large'), batch => batch.length);
    const seen = [counts.encoded];
    const loop = countLoopTurns(() => seen.push(counts.encoded));
    expect(await passed).toBe(5);
    loop.stop();
    expect(seen.filter((now, i) => now - (seen[i - 1] ?? 0) > 1)).toEqual([]);
    expect(counts.encoded).toBe(5);
  });

  it('encodes a fact of many members in steps, a turn each', async () => {
    const labels = Object.fromEntries(Array.from({ length: 2 * MEMBERS_AT_ONCE }, (_, i) => [`a${i}`, 'x']));
    const facts = ['ConfigMap', 'Secret'].map((kind): Unrecorded => {
      const metadata = { name: 'a', namespace: 'a', annotations: labels, labels };
      return { source: 'file/Kubernetes', kind: 'Add', object: { apiVersion: 'v1', kind, metadata } };
    });
    for (const [i, fact] of facts.entries()) {
      const journal = openMemoryJournal();
      let turns = 0;
      const loop = countLoopTurns(() => turns++);
      const [event] = await journal.append([fact]);
      loop.stop();
      expect(event).toEqual({ ...fact, seq: 1, time: event!.time });
      expect(turns).toBeGreaterThanOrEqual(2 + i);
    }
  });

  it('refuses a batch while too many wait, and takes the next one once they have passed', async () => {
    const line = new EncodingLine(
      encoded(() => ''),
      'memory',
    );
    const pass = (count: number): Promise<number> => line.pass(timers(count, 'x'), batch => batch.length);
    const large = pass(2 * ENCODED_AT_ONCE);
    const waiting = Array.from({ length: QUEUE_WAITING_MAX }, () => pass(1));
    await expect(pass(1)).rejects.toMatchObject({ code: 'overloaded', path: 'memory' });
    expect(await large).toBe(2 * ENCODED_AT_ONCE);
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 1));
    const again = pass(2 * ENCODED_AT_ONCE);
    expect(await pass(1)).toBe(1);
    await again;
  });

  it('refuses only the batch that cannot be encoded, and finishes pending ones before it closes', async () => {
    const journal = openMemoryJournal();
    const unfit = [...timers(600, 'bad'), { source: 'bad', kind: 'Gap', reason: 1n } as unknown as Unrecorded];
    const results = [journal.append(timers(600, 'one')), journal.append(unfit), journal.append(timers(2, 'two'))];
    const settled = Promise.allSettled(results);
    await journal.close();
    const [one, bad, two] = await settled;
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'unfit-fact' } });
    expect([one, two].map(result => (result?.status === 'fulfilled' ? result.value.at(-1)?.seq : undefined))).toEqual([
      600, 602,
    ]);
  });
});
