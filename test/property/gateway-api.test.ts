// Translation of the Gateway API and Ingress: what objects become, and the statuses wished for, depend on the set of
// objects alone, never on the order of arrival nor on what was there before.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import type { State } from '../../src/core/state.ts';
import { derivedDestinationRules } from '../../src/core/translate/gateway-api/derived-destination-rules.ts';
import { derivedGateways } from '../../src/core/translate/gateway-api/derived-gateways.ts';
import { derivedVirtualServices } from '../../src/core/translate/gateway-api/merged-routes.ts';
import { ingressVirtualServices } from '../../src/core/translate/ingress/ingress-routes.ts';
import { wishTable } from '../../src/core/wishes/table.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { parameters } from './seed.ts';

const API = 'gateway.networking.k8s.io/v1';
const NAMESPACES = ['a', 'b'] as const;
const namespaces = fc.constantFrom(...NAMESPACES);
const hosts = fc.constantFrom('x.com', '*.x.com', 'a.x.com', 'y.org');
const ages = fc.constantFrom('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z');
const froms = fc.constantFrom('All', 'Same');

function object(apiVersion: string, kind: string): (of: readonly [string, string, string, JsonObject]) => JsonObject {
  return ([namespace, name, creationTimestamp, spec]) => ({
    apiVersion,
    kind,
    metadata: { namespace, name, creationTimestamp },
    spec,
  });
}

const listeners = fc
  .uniqueArray(fc.tuple(fc.constantFrom('l1', 'l2'), fc.option(hosts), froms, fc.constantFrom(80, 81)), {
    minLength: 1,
    maxLength: 2,
    selector: ([name]) => name,
  })
  .map(all =>
    all.map(([name, hostname, from, port], i) => ({
      name,
      protocol: 'HTTP',
      port: port + i * 10,
      ...(hostname === null ? {} : { hostname }),
      allowedRoutes: { namespaces: { from } },
    })),
  );

const gateways = fc
  .tuple(namespaces, fc.constantFrom('g', 'h'), ages, listeners)
  .map(([namespace, name, age, list]) =>
    object(API, 'Gateway')([namespace, name, age, { gatewayClassName: 'istio', listeners: list }]),
  );

const parentRefs = fc.oneof(
  fc.record({ name: fc.constantFrom('g', 'h'), namespace: namespaces }),
  fc.record({ group: fc.constant(''), kind: fc.constant('Service'), name: fc.constant('s') }),
);

const rules = fc.record({
  matches: fc.array(
    fc.record({
      path: fc.record({ type: fc.constantFrom('Exact', 'PathPrefix'), value: fc.constantFrom('/', '/a', '/ab') }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  backendRefs: fc.array(
    fc.record({ name: fc.constantFrom('s', 'none'), namespace: namespaces, port: fc.constant(80), weight: fc.nat(2) }),
    { maxLength: 2 },
  ),
});

const routes = fc
  .tuple(
    namespaces,
    fc.constantFrom('r', 'r-a', 'q'),
    ages,
    fc.record({
      parentRefs: fc.uniqueArray(parentRefs, {
        minLength: 1,
        maxLength: 2,
        selector: ref => canonicalJson(ref as Json),
      }),
      hostnames: fc.uniqueArray(hosts, { maxLength: 2 }),
      rules: fc.array(rules, { minLength: 1, maxLength: 2 }),
    }),
  )
  .map(object(API, 'HTTPRoute'));

const grants = fc.tuple(namespaces, namespaces).map(([namespace, from]) =>
  object(
    'gateway.networking.k8s.io/v1beta1',
    'ReferenceGrant',
  )([
    namespace,
    `from-${from}`,
    '2020-01-01T00:00:00Z',
    {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: from }],
      to: [{ group: '', kind: 'Service' }],
    },
  ]),
);

const servicesOf = namespaces.map(namespace => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name: 's' },
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] },
}));

const policies = fc.tuple(namespaces, fc.constantFrom('p', 'q'), ages).map(([namespace, name, age]) =>
  object(
    API,
    'BackendTLSPolicy',
  )([
    namespace,
    name,
    age,
    {
      targetRefs: [{ group: '', kind: 'Service', name: 's' }],
      validation: { hostname: `${name}.com`, wellKnownCACertificates: 'System' },
    },
  ]),
);

const ingresses = fc.tuple(namespaces, fc.constantFrom('i', 'j'), ages, hosts).map(([namespace, name, age, host]) => ({
  ...object(
    'networking.k8s.io/v1',
    'Ingress',
  )([
    namespace,
    name,
    age,
    {
      rules: [
        {
          host,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        },
      ],
    },
  ]),
}));

const worlds = fc.uniqueArray(fc.oneof(gateways, routes, routes, grants, servicesOf, policies, ingresses), {
  minLength: 2,
  maxLength: 10,
  selector: ({ kind, metadata }) =>
    canonicalJson([kind, (metadata as JsonObject).namespace, (metadata as JsonObject).name] as Json),
});

function folded(objects: readonly JsonObject[], state?: State): State {
  const mesh = { source: 'file/Kubernetes', kind: 'MeshConfig' as const, value: { ingressControllerMode: 'DEFAULT' } };
  const facts = objects.map(one => ({ source: 'file/Kubernetes', kind: 'Add' as const, object: one as never }));
  return foldFacts([mesh, ...facts], state).state;
}

function translated(tracker: Tracker, state: State): string {
  const sorted = (list: readonly unknown[]): readonly string[] => list.map(one => canonicalJson(one as Json)).sort();
  const get = <T>(query: { readonly name: string }, arg: string): T =>
    tracker.get(state, undefined, query as never, arg as never) as T;
  return [
    ...sorted(get(derivedGateways, '')),
    ...sorted(get(derivedVirtualServices, '')),
    ...sorted(get(ingressVirtualServices, '')),
    ...NAMESPACES.flatMap(namespace => sorted(get(derivedDestinationRules, namespace))),
    canonicalJson(get(wishTable, '')),
  ].join('\n');
}

/** Holds if the last object of a world, first or last to come, makes no difference. */
function order(rotated: (objects: readonly JsonObject[]) => readonly JsonObject[]): fc.IProperty<unknown> {
  return fc.property(worlds, objects => {
    const there = translated(new Tracker(), folded(objects));
    expect(translated(new Tracker(), folded(rotated(objects)))).toBe(there);
  });
}

describe('translation of the Gateway API and Ingress', () => {
  it('is the same in any order of arrival', () => {
    fc.assert(
      order(objects => [...objects].reverse()),
      parameters(150),
    );
  });

  it('canary: a lost object is detected', () => {
    expect(
      fc.check(
        order(objects => objects.slice(1)),
        { numRuns: 150, seed: 1 },
      ).failed,
    ).toBe(true);
  });

  it('is the same after changes as from scratch', () => {
    fc.assert(
      fc.property(worlds, worlds, (first, second) => {
        const tracker = new Tracker();
        let state = folded(first);
        translated(tracker, state);
        for (const one of second) {
          state = folded([one], state);
          translated(tracker, state);
        }
        expect(translated(tracker, state)).toBe(translated(new Tracker(), state));
      }),
      parameters(60),
    );
  });
});
