// Arbitrary meshes for questions of routing: services of every protocol with pods behind them, ServiceEntries, and the
// rules of src/testing's worlds on top. Addresses and hosts are given out once, as Kubernetes does; what a rule refers
// to may be missing, hidden or elsewhere.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { NAMES, NAMESPACES, PORTS } from '../../../src/testing/worlds/pools.ts';
import { virtualService } from '../../../src/testing/worlds/routes.ts';
import { fullHost, nameOf, namespaceOf, serviceHost } from './read.ts';
import { delegates, focusedPlainRules, focusedVirtualService } from './rules.ts';

export interface World {
  readonly objects: readonly JsonObject[];
  readonly mesh: JsonObject;
}

const exportTo = fc.constantFrom<Json | undefined>(undefined, undefined, undefined, ['.'], ['*'], ['test']);
const created = fc.constantFrom(undefined, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');

export function described(kind: string, name: string, namespace: string, spec: JsonObject, age?: string): JsonObject {
  return {
    apiVersion: `networking.istio.io/v1`,
    kind,
    metadata: { name, namespace, ...(age === undefined ? {} : { creationTimestamp: age }) },
    spec,
  };
}

/** A service of the cluster, its slice and its pods. `index` makes its addresses its own. */
function service(name: string, namespace: string, index: number): fc.Arbitrary<readonly JsonObject[]> {
  return fc
    .record({
      ports: fc.subarray([...PORTS], { minLength: 3 }),
      headless: fc.nat(5).map(n => n === 0),
      exported: fc.constantFrom(undefined, undefined, undefined, undefined, '.', '*', 'test', '~'),
      pods: fc.array(fc.record({ version: fc.constantFrom('v1', 'v2'), ready: fc.nat(4).map(n => n > 0) }), {
        minLength: 1,
        maxLength: 3,
      }),
    })
    .map(({ ports, headless, exported, pods }) => [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          name,
          namespace,
          ...(exported === undefined ? {} : { annotations: { 'networking.istio.io/exportTo': exported } }),
        },
        spec: { clusterIP: headless ? 'None' : `10.96.1.${index + 1}`, ports, selector: { app: name } },
      },
      ...pods.map(({ version, ready }, i) => pod(name, namespace, `10.1.${index + 1}.${i + 1}`, i, version, ready)),
      slice(name, namespace, index, ports, pods),
    ]);
}

function pod(app: string, namespace: string, ip: string, i: number, version: string, ready: boolean): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${app}-${i}`, namespace, labels: { app, version } },
    spec: { containers: [{ name: 'app' }] },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

/** Workloads listen elsewhere than their services. */
export const targetPort = (port: number): number => port + 10_000 - (port > 20_000 ? 20_000 : 0);

function slice(
  name: string,
  namespace: string,
  index: number,
  ports: readonly (typeof PORTS)[number][],
  pods: readonly { readonly ready: boolean }[],
): JsonObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: ports.map(port => ({ name: port.name, port: targetPort(port.port), protocol: 'TCP' })),
    endpoints: pods.map(({ ready }, i) => ({
      addresses: [`10.1.${index + 1}.${i + 1}`],
      conditions: { ready, serving: ready, terminating: false },
      targetRef: { kind: 'Pod', name: `${name}-${i}`, namespace },
    })),
  };
}

export const services = fc
  .tuple(
    ...NAMESPACES.flatMap((namespace, n) =>
      NAMES.map((name, i) => fc.option(service(name, namespace, 3 * n + i), { freq: 6 })),
    ),
  )
  .map(found => found.flatMap(objects => objects ?? []));

const http80: Json = { number: 80, name: 'http', protocol: 'HTTP' };
const db: Json = { number: 5432, name: 'db', protocol: 'TCP' };
const tls443: Json = { number: 443, name: 'tls', protocol: 'TLS' };

/** One for each host at most. */
export const serviceEntries = fc
  .tuple(
    fc.option(
      fc.record({
        exportTo,
        namespace: fc.constantFrom(...NAMESPACES),
        spec: fc.constantFrom<JsonObject>(
          { resolution: 'NONE', ports: [http80, tls443] },
          { resolution: 'NONE', ports: [http80, db], addresses: ['240.1.1.1'] },
          {
            resolution: 'STATIC',
            ports: [http80, tls443],
            endpoints: [{ address: '10.2.0.1' }, { address: '10.2.0.2' }],
          },
          {
            resolution: 'STATIC',
            addresses: ['240.1.1.2'],
            ports: [{ ...http80, targetPort: 8080 }, db],
            endpoints: [{ address: '10.2.0.1', ports: { db: 15_432 } }],
          },
          { resolution: 'DNS', ports: [http80, tls443] },
          { resolution: 'DNS', ports: [http80], endpoints: [{ address: 'one.example.org' }] },
        ),
      }),
    ),
    fc.option(fc.record({ exportTo, namespace: fc.constantFrom(...NAMESPACES) })),
  )
  .map(([one, wildcard]) => [
    ...(one === null
      ? []
      : [
          described('ServiceEntry', 'api', one.namespace, {
            hosts: ['api.example.com'],
            ...shown(one.exportTo),
            ...one.spec,
          }),
        ]),
    ...(wildcard === null
      ? []
      : [
          described('ServiceEntry', 'wildcard', wildcard.namespace, {
            hosts: ['*.example.com'],
            resolution: 'NONE',
            ports: [http80, tls443],
            ...shown(wildcard.exportTo),
          }),
        ]),
  ]);

const shown = (value: Json | undefined): JsonObject => (value === undefined ? {} : { exportTo: value });

const someRule = fc.record({
  namespace: fc.constantFrom(...NAMESPACES),
  host: fc.oneof(
    fc.constantFrom<string>(...NAMES),
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMESPACES)).map(([n, ns]) => serviceHost(n, ns)),
  ),
  exportTo,
  subsets: fc.subarray(['v1', 'v2'], { minLength: 1 }),
  age: created,
});
/** Most services have one in their own namespace. */
const ownRules = fc.tuple(
  ...NAMESPACES.flatMap(namespace =>
    NAMES.map(host =>
      fc.option(
        fc.record({
          namespace: fc.constant(namespace),
          host: fc.constant<string>(host),
          exportTo: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, exportTo),
          subsets: fc.constant(['v1', 'v2']),
          age: created,
        }),
        { freq: 8 },
      ),
    ),
  ),
);
/** Of a second rule for the same host: one name that the first may have with other labels, and one that it has not. */
const moreSubsets: Json = [
  { name: 'v1', labels: { version: 'v2' } },
  { name: 'next', labels: { version: 'v2' } },
];
export const destinationRules = fc
  .tuple(ownRules, fc.array(someRule, { maxLength: 3 }), fc.array(fc.tuple(fc.nat(3), created), { minLength: 12 }))
  .map(([own, some, seconds]) => {
    const all = [...own.flatMap(found => found ?? []), ...some].map(rule => ({
      ...rule,
      key: `${rule.namespace} ${fullHost(rule.host, rule.namespace)}`,
    }));
    const once = [...new Map(all.map(rule => [rule.key, rule])).values()];
    return once.flatMap(({ namespace, host, exportTo: to, subsets, age }, i) => {
      const first = subsets.map(version => ({ name: version, labels: { version } }));
      const rule = (name: string, found: Json, when: string | undefined): JsonObject =>
        described('DestinationRule', name, namespace, { host, ...shown(to), subsets: found }, when);
      const [chance, when] = seconds[i] ?? [1, undefined];
      return [rule(`rule-${i}`, first, age), ...(chance === 0 ? [rule(`more-${i}`, moreSubsets, when)] : [])];
    });
  });

const virtualServices = fc
  .tuple(
    fc.array(focusedVirtualService, { minLength: 2, maxLength: 6 }),
    fc.array(focusedPlainRules, { minLength: 1, maxLength: 3 }),
    fc.array(virtualService, { maxLength: 2 }),
    delegates,
  )
  .map(found => found.flat().map(object => JSON.parse(JSON.stringify(object)) as JsonObject));

/** At most one for each namespace; most worlds have none. */
const sidecars = fc
  .tuple(
    ...NAMESPACES.map(namespace =>
      fc.option(
        fc
          .record({
            hosts: fc.constantFrom<Json>(
              ['./*'],
              ['*/*'],
              ['prod/*', 'istio-system/*'],
              ['*/alpha.prod.svc.cluster.local', '*/*.example.com'],
              ['test/beta.test.svc.cluster.local', './*'],
              ['~/*'],
            ),
            // Of the root namespace the one without a selector is the default of all proxies.
            selector:
              namespace === 'istio-system'
                ? fc.constant(undefined)
                : fc.constantFrom<Json | undefined>(undefined, { labels: { app: 'alpha' } }),
            policy: fc.constantFrom<Json | undefined>(
              undefined,
              undefined,
              { mode: 'REGISTRY_ONLY' },
              { mode: 'ALLOW_ANY' },
            ),
          })
          .map(({ hosts, selector, policy }) =>
            described('Sidecar', 'scope', namespace, {
              egress: [{ hosts }],
              ...(selector === undefined ? {} : { workloadSelector: selector }),
              ...(policy === undefined ? {} : { outboundTrafficPolicy: policy }),
            }),
          ),
        { freq: 2 },
      ),
    ),
  )
  .chain(found =>
    fc.nat(2).map(n => (n === 0 ? found.flatMap((one): readonly JsonObject[] => (one === null ? [] : [one])) : [])),
  );

export const mesh: fc.Arbitrary<JsonObject> = fc.record(
  {
    outboundTrafficPolicy: fc.constantFrom<Json>({ mode: 'REGISTRY_ONLY' }, { mode: 'ALLOW_ANY' }),
    defaultServiceExportTo: fc.constantFrom<Json>(['*'], ['.']),
    defaultVirtualServiceExportTo: fc.constantFrom<Json>(['*'], ['.']),
    defaultDestinationRuleExportTo: fc.constantFrom<Json>(['*'], ['.']),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;

/** Names are used once for each kind and namespace, as in an API server. */
export const anyWorld: fc.Arbitrary<World> = fc
  .tuple(services, serviceEntries, destinationRules, virtualServices, sidecars, mesh)
  .map(([a, b, c, d, e, config]) => ({
    objects: unique([...a, ...b, ...c, ...d, ...e], one => `${String(one.kind)} ${namespaceOf(one)} ${nameOf(one)}`),
    mesh: config,
  }));

export function unique(objects: readonly JsonObject[], key: (object: JsonObject) => string): readonly JsonObject[] {
  return [...new Map(objects.map(object => [key(object), object])).values()];
}
