import { expect, test } from 'vitest';
import type { RawObject } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { emptyState, type State } from '../../src/core/state.ts';

const policy = (namespace: string, name: string, mode: string): RawObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'PeerAuthentication',
  metadata: { namespace, name },
  spec: { mtls: { mode } },
});
const put = (state: State, object: RawObject): State =>
  fold(state, { seq: state.seq + 1, time: 0, source: 'file/Kubernetes', kind: 'Add', object }, new Set()).state;

const tracker = new Tracker();
/** Two queries: `summary` calls `names`, which reads a range of objects. */
const summary = (state: State) =>
  tracker.get<string, { readonly namespace: string; readonly policies: string }>(
    state,
    undefined,
    {
      name: 'example/summary',
      run: (reader, namespace: string) => {
        const query = {
          name: 'example/names',
          run: (inner: typeof reader, prefix: string) => inner.objects('PeerAuthentication', prefix).map(o => o.name),
        };
        return { namespace, policies: reader.get(query, `${namespace}/`).join(', ') };
      },
    },
    'shop',
  );

test('a query runs only if something that it read has another value', () => {
  const first = put(emptyState, policy('shop', 'default', 'STRICT'));
  const value = summary(first);
  expect(value).toEqual({ namespace: 'shop', policies: 'default' });
  expect(tracker.stats.runs).toBe(2); // summary, and names below it

  const elsewhere = put(first, policy('bank', 'default', 'STRICT'));
  expect(summary(elsewhere)).toBe(value); // the change lies outside the range that was read
  expect(tracker.stats.runs).toBe(2);

  const mode = put(elsewhere, policy('shop', 'default', 'PERMISSIVE'));
  expect(summary(mode)).toBe(value); // names runs and gives the same names; summary is verified, not run
  expect(tracker.stats.runs).toBe(3);

  const more = put(mode, policy('shop', 'web', 'STRICT'));
  expect(summary(more).policies).toBe('default, web'); // both run
  expect(tracker.stats.runs).toBe(5);
});
