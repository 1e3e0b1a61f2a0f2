// Names are listed before the first subscription that refers to them, and not again while the list is in use; folding
// in that order gives every subscription its names.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ProxySubscribed, Unrecorded } from '../../../../src/core/event.ts';
import { fold } from '../../../../src/core/fold/fold-event.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { LISTED_NAMES_MIN, SubscriptionFacts } from '../../../../src/xds/serve/subscription-facts.ts';
import { parameters } from '../../../property/seed.ts';
import { nodeOf } from '../../world.ts';

const TYPE = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
const many = Array.from({ length: LISTED_NAMES_MIN }, (_, i) => `outbound|80||s${String(i).padStart(2, '0')}`);
const others = many.map(name => `${name}.x`);

function subscribed(connection: string, subscribe: readonly string[], unsubscribe: readonly string[] = []) {
  const fact: ProxySubscribed = {
    kind: 'ProxySubscribed',
    connection,
    typeUrl: TYPE,
    subscribe,
    unsubscribe,
    wildcard: false,
  };
  return fact;
}

describe('subscription facts', () => {
  test('list names once for all proxies with the same subscription', () => {
    const listed = new SubscriptionFacts();
    const kinds = (facts: readonly Unrecorded[]): readonly string[] => facts.map(({ kind }) => kind);
    expect(kinds(listed.facts(subscribed('a', many), undefined))).toEqual(['Names', 'ProxySubscribed']);
    const [second] = listed.facts(subscribed('b', [...many]), undefined);
    expect(second).toMatchObject({ kind: 'ProxySubscribed', subscribe: [], list: expect.any(String) });
    listed.onDisconnected('a');
    expect(kinds(listed.facts(subscribed('c', many), undefined))).toEqual(['ProxySubscribed']);
    listed.onDisconnected('b');
    listed.onDisconnected('c');
    expect(listed.size).toBe(0);
    expect(kinds(listed.facts(subscribed('d', many), undefined))).toEqual(['Names', 'ProxySubscribed']);
  });
  test.each([
    ['few names', subscribed('a', many.slice(1)), undefined],
    ['names beside others', subscribed('a', many), { wildcard: false, names: ['x'] }],
    ['names instead of others', subscribed('a', many, ['x']), undefined],
  ])('%s are recorded in full', (_, fact, before) => {
    expect(new SubscriptionFacts().facts(fact, before)).toEqual([{ source: 'xds', ...fact }]);
  });
  test('fold to the subscribed names in any order of events', () => {
    const act = fc.record({
      connection: fc.constantFrom('a', 'b', 'c'),
      does: fc.constantFrom('connect', 'many', 'others', 'more', 'none', 'leave'),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40, size: 'max' }), acts => {
        const listed = new SubscriptionFacts();
        const held = new Map<string, Set<string>>();
        let state = emptyState;
        for (const { connection, does } of acts) {
          const names = held.get(connection);
          const before = state.proxies.get(connection)?.subscriptions[TYPE];
          const say = (subscribe: readonly string[], unsubscribe: readonly string[]): void => {
            state = record(state, listed.facts(subscribed(connection, subscribe, unsubscribe), before));
          };
          if (does === 'connect' && names === undefined) {
            state = record(state, [connected(connection)]);
            held.set(connection, new Set());
          } else if (names === undefined || does === 'connect') continue;
          else if (does === 'leave') {
            listed.onDisconnected(connection);
            state = record(state, [{ source: 'xds', kind: 'ProxyDisconnected', connection, reason: 'closed' }]);
            held.delete(connection);
          } else {
            const wanted = new Set(
              does === 'many' ? many : does === 'others' ? others : does === 'more' ? ['x', ...many] : [],
            );
            say(
              [...wanted].filter(name => !names.has(name)).sort(),
              [...names].filter(name => !wanted.has(name)).sort(),
            );
            held.set(connection, wanted);
          }
          for (const [one, expected] of held) {
            expect(state.proxies.get(one)?.subscriptions[TYPE]?.names ?? []).toEqual([...expected].sort());
          }
        }
      }),
      parameters(200),
    );
  });
});

function record(state: State, facts: readonly Unrecorded[]): State {
  return facts.reduce((at, fact) => fold(at, { ...fact, seq: at.seq + 1, time: 0 }, new Set()).state, state);
}

function connected(connection: string): Unrecorded {
  return { source: 'xds', kind: 'ProxyConnected', connection, node: nodeOf({ name: connection }), protocol: 'delta' };
}
