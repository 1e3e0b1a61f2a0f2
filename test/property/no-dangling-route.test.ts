// A delta client never has a route to a cluster that it does not have, although every state removes clusters and moves
// routes at will: clusters come before the routes that use them, and go after the routes that used them have been
// accepted, also by a client that refuses some routes. (Who refuses a cluster has itself to blame.)

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CDS, RDS } from '../../src/xds/session/types.ts';
import { TestClient } from '../protocol/test-client.ts';
import type { Config } from '../protocol/world.ts';
import { parameters } from './seed.ts';

const CLUSTERS = ['a', 'b', 'c', 'd'] as const;

type Action =
  /** The clusters there are, and to which of them (by position) each route goes. */
  | { readonly kind: 'set'; readonly clusters: readonly string[]; readonly routes: readonly number[] }
  | { readonly kind: 'push' | 'answer' | 'refuse' | 'read' | 'stall' | 'reconnect' };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      clusters: fc.subarray([...CLUSTERS], { minLength: 1 }),
      routes: fc.array(fc.nat(3), { minLength: 2, maxLength: 2 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'push' as const }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...Array<'answer'>(11).fill('answer'), 'refuse' as const).map(kind => ({ kind })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('read' as const, 'stall' as const, 'reconnect' as const) }),
  },
);

/** A route is a resource whose version is the name of its cluster. */
function apply(config: Config, { clusters, routes }: Action & { readonly kind: 'set' }): void {
  config.set(CDS, new Map(clusters.map(name => [name, '1'])));
  config.set(RDS, new Map(routes.map((to, i) => [`route-${i}`, clusters[to % clusters.length]!])));
}

function dangling(client: TestClient): readonly string[] {
  const clusters = client.holds.get(CDS) ?? new Map<string, string>();
  return [...(client.holds.get(RDS) ?? [])]
    .filter(([, to]) => !clusters.has(to))
    .map(([name, to]) => `${name} to ${to}`);
}

function live(actions: readonly Action[], look: (client: TestClient) => void): TestClient {
  const config: Config = new Map();
  apply(config, { kind: 'set', clusters: ['a', 'b'], routes: [0, 1] });
  const client = new TestClient('delta', config);
  client.subscribe(CDS, []);
  client.subscribe(RDS, ['route-0', 'route-1']);
  for (const act of actions) {
    if (act.kind === 'set') {
      apply(config, act);
      client.world.changed();
    } else if (act.kind === 'push') client.push();
    else if (act.kind === 'answer' || act.kind === 'refuse')
      client.answer(act.kind === 'refuse' && client.inbox[0]?.typeUrl === RDS);
    else if (act.kind === 'reconnect') client.reconnect();
    else client.read(act.kind === 'read');
    look(client);
  }
  client.push();
  client.settle();
  look(client);
  return client;
}

describe('routes to clusters', () => {
  test('never dangle, and no unused cluster remains at the end', () => {
    const met = { refused: 0, onHold: 0, runs: 0 };
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60, size: 'max' }), actions => {
        let onHold = false;
        const client = live(actions, now => {
          expect(dangling(now)).toEqual([]);
          onHold ||= (now.world.session.watches.get(CDS)?.heldRemovals.size ?? 0) > 0;
        });
        met.runs++;
        if (onHold) met.onHold++;
        // What was refused is not sent again while it is the same, and what it would replace needs its cluster.
        if (client.refusals > 0) met.refused++;
        else
          expect([...(client.holds.get(CDS)?.keys() ?? [])].sort()).toEqual([...client.config.get(CDS)!.keys()].sort());
      }),
      parameters(1_500),
    );
    expect(Math.min(met.onHold, met.refused, met.runs - met.refused), JSON.stringify(met)).toBeGreaterThan(
      met.runs / 10,
    );
  });

  test('canary: would dangle without the wait for routes', () => {
    const caught: string[] = [];
    const moved: readonly Action[] = [
      { kind: 'answer' },
      { kind: 'answer' },
      { kind: 'set', clusters: ['a'], routes: [0, 0] },
      { kind: 'push' },
    ];
    const client = live(moved, now => {
      const clusters = now.config.get(CDS)!;
      // What a client would hold whose removals are not held back.
      for (const [name, to] of now.holds.get(RDS) ?? []) if (!clusters.has(to)) caught.push(`${name} to ${to}`);
    });
    expect(caught).toEqual(['route-1 to b', 'route-1 to b']);
    expect(dangling(client)).toEqual([]);
  });
});
