// Lemma: the destinations that are kept with a VirtualService are those that its rules name, for clients of every
// namespace. The model reads the rules anew for each namespace.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type {
  Destination,
  HTTPRoute,
  RouteDestination,
  VirtualService,
} from '../../src/core/schema/istio-types.gen.ts';
import { destinationsFor, destinationsIn } from '../../src/core/select/scope/destinations.ts';
import { parameters } from './seed.ts';

const NAMESPACES = ['a', 'b', 'c'];

function modelOf(spec: VirtualService, namespace: string | undefined): ReadonlyMap<string, readonly number[] | 'all'> {
  const applies = ({ match = [] }: HTTPRoute): boolean =>
    namespace === undefined ||
    match.length === 0 ||
    match.some(({ sourceNamespace = '' }) => ['', namespace].includes(sourceNamespace));
  const http = (spec.http ?? []).filter(applies);
  const named: (Destination | undefined)[] = [
    ...http.flatMap(({ route = [], mirror, mirrors = [] }) => [
      ...route.map(({ destination }) => destination),
      mirror,
      ...mirrors.map(({ destination }) => destination),
    ]),
    ...[...(spec.tcp ?? []), ...(spec.tls ?? [])].flatMap(({ route = [] }) => route.map(to => to.destination)),
  ];
  const found = new Map<string, readonly number[] | 'all'>();
  for (const host of new Set(named.map(to => to?.host))) {
    if (host === undefined) continue;
    const ports = named.filter(to => to?.host === host).map(to => to?.port?.number ?? 0);
    found.set(host, ports.includes(0) ? 'all' : [...new Set(ports)]);
  }
  return found;
}

const destination: fc.Arbitrary<Destination> = fc.record(
  {
    host: fc.constantFrom('x', 'y', 'z'),
    subset: fc.constantFrom('v1', 'v2'),
    port: fc.record({ number: fc.constantFrom(0, 80, 81, 82) }),
  },
  { requiredKeys: [] },
);
const weighted: fc.Arbitrary<RouteDestination> = fc.record({ destination }, { requiredKeys: [] });
const few = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 3 });
const http: fc.Arbitrary<HTTPRoute> = fc.record(
  {
    match: few(fc.record({ sourceNamespace: fc.constantFrom('', ...NAMESPACES) }, { requiredKeys: [] })),
    route: few(weighted),
    mirror: destination,
    mirrors: few(weighted),
    name: fc.constantFrom('1', '2'),
  },
  { requiredKeys: [] },
);
const l4 = fc.record({ route: few(weighted) }, { requiredKeys: [] });
const specs: fc.Arbitrary<VirtualService> = fc.record(
  { http: few(http), tcp: few(l4), tls: few(l4) },
  { requiredKeys: [] },
);

test('the destinations of a VirtualService for a namespace are those that a reading of its rules gives', () => {
  let restricted = 0;
  const property = fc.property(specs, spec => {
    const destinations = destinationsIn(spec);
    if (destinations.dependOnClient) restricted++;
    for (const namespace of [undefined, ...NAMESPACES]) {
      const found = destinationsFor({ spec, destinations }, namespace);
      const model = modelOf(spec, namespace);
      expect(found.map(({ host, ports }) => [host, ports ?? 'all'])).toEqual([...model]);
    }
  });
  fc.assert(property, parameters(500));
  expect(restricted).toBeGreaterThan(20);
});
