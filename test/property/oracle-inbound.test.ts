// Over arbitrary policies: what the oracle predicts for connections that reach a workload is what PeerAuthentication
// says of them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { explain } from '../../src/oracle/explain.ts';
import { oracleOf } from '../../src/oracle/oracle.ts';
import type { Outcome } from '../../src/oracle/prediction.ts';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import type { FilterChain } from '../../src/xds/proto/types.gen.ts';
import { type Arriving, connectionOf, expectInbound, type Workload } from './mesh/inbound-model.ts';
import { configured } from './mesh/predicted.ts';
import { parameters } from './seed.ts';

const WORKLOAD: Workload = { namespace: 'prod', labels: { app: 'alpha', version: 'v1' }, address: '10.1.200.1' };
const PORTS = [
  { name: 'http', port: 80, targetPort: 8080 },
  { name: 'grpc-api', port: 7070, targetPort: 7071 },
  { name: 'tcp-db', port: 5432, targetPort: 5433 },
  { name: 'https', port: 443, targetPort: 8443 },
  { name: 'plain', port: 9000, targetPort: 9001 },
] as const;
/** Nothing leads there; the second has a mode of its own in some policies. */
const UNDECLARED = [6_666, 7_777] as const;

const mode = fc.constantFrom('STRICT', 'PERMISSIVE', 'DISABLE', 'UNSET');

function policy(name: string, namespace: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'security.istio.io/v1', kind: 'PeerAuthentication', metadata: { name, namespace }, spec };
}

const wide = (namespace: string): fc.Arbitrary<readonly JsonObject[]> =>
  fc.option(mode).map(found => (found === null ? [] : [policy('wide', namespace, { mtls: { mode: found } })]));

const own: fc.Arbitrary<readonly JsonObject[]> = fc
  .option(
    fc.record({
      mtls: fc.option(mode, { nil: undefined }),
      ports: fc.uniqueArray(fc.tuple(fc.constantFrom(8080, 5433, 9001, 7777), mode), {
        maxLength: 3,
        selector: ([port]) => port,
      }),
      app: fc.constantFrom('alpha', 'alpha', 'beta'),
    }),
    { freq: 4 },
  )
  .map(found =>
    found === null
      ? []
      : [
          policy('own', 'prod', {
            selector: { matchLabels: { app: found.app } },
            ...(found.mtls === undefined ? {} : { mtls: { mode: found.mtls } }),
            ...(found.ports.length === 0
              ? {}
              : { portLevelMtls: Object.fromEntries(found.ports.map(([port, one]) => [String(port), { mode: one }])) }),
          }),
        ],
  );

const service = fc.subarray([...PORTS], { minLength: 1 }).map(
  (ports): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'alpha', namespace: 'prod' },
    spec: { clusterIP: '10.96.1.1', ports: ports.map(port => ({ ...port })), selector: { app: 'alpha' } },
  }),
);
const behind: JsonObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'alpha', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'alpha' } },
  addressType: 'IPv4',
  ports: PORTS.map(({ name, targetPort }) => ({ name, port: targetPort, protocol: 'TCP' })),
  endpoints: [{ addresses: [WORKLOAD.address], conditions: { ready: true } }],
};

const arriving: fc.Arbitrary<Arriving> = fc
  .record({
    port: fc.constantFrom(...PORTS.map(({ targetPort }) => targetPort), ...UNDECLARED),
    tls: fc.constantFrom('none', 'mesh', 'bare', 'own'),
    says: fc.constantFrom('http', 'http', 'bytes', 'nothing'),
  })
  .map(found => ({ ...found, says: found.says === 'nothing' && found.tls !== 'none' ? 'bytes' : found.says }));

interface Inquiry {
  readonly objects: readonly JsonObject[];
  readonly arrivals: readonly Arriving[];
}

const inquiry: fc.Arbitrary<Inquiry> = fc
  .tuple(
    service,
    wide('istio-system'),
    wide('prod'),
    wide('test'),
    own,
    fc.array(arriving, { minLength: 20, maxLength: 20 }),
  )
  .map(([one, a, b, c, d, arrivals]) => ({ objects: [one, behind, ...a, ...b, ...c, ...d], arrivals }));

function shown(outcome: Outcome | undefined): string {
  if (outcome?.kind !== 'forwarded') return outcome?.kind ?? 'nothing';
  const { endpoint, cluster, protocol } = outcome;
  const name = cluster === 'InboundPassthroughCluster' ? 'passthrough' : `inbound ${cluster.split('|')[1]}`;
  return `${protocol} ${name} ${endpoint.address}:${endpoint.port}`;
}

function differences({ objects, arrivals }: Inquiry, config: ProxyConfig, kinds: string[] = []): readonly string[] {
  const oracle = oracleOf(config);
  return arrivals.flatMap(one => {
    const want = expectInbound(objects, WORKLOAD, one);
    kinds.push(want.split(' ').slice(0, 2).join(' '));
    const prediction = oracle.predict(connectionOf(one, WORKLOAD));
    const got = shown(prediction.branches[0]?.outcome);
    return got === want ? [] : [`${JSON.stringify(one)}: the API: ${want}, Envoy: ${got}\n${explain(prediction)}`];
  });
}

/** Nothing of the worlds here is refused. */
const configOf = ({ objects }: Inquiry): ProxyConfig => configured({ objects, mesh: {} }, WORKLOAD).config;

const FIXED_SEED = 7;
const fixed = fc.sample(inquiry, { numRuns: 60, seed: FIXED_SEED });
const configs = fixed.map(configOf);

describe('connections that reach a workload', () => {
  it('are served as PeerAuthentication defines', () => {
    fc.assert(
      fc.property(inquiry, given => {
        expect(differences(given, configOf(given))).toEqual([]);
      }),
      parameters(60),
    );
  });

  it('census: are of every kind', () => {
    const kinds: string[] = [];
    fixed.forEach((given, i) => {
      expect(differences(given, configs[i]!, kinds)).toEqual([]);
    });
    expect([...new Set(kinds)].sort()).toEqual(
      ['closed', 'http inbound', 'http passthrough', 'stuck', 'tcp inbound', 'tcp passthrough'].sort(),
    );
  });
});

function withChains(
  config: ProxyConfig,
  change: (chains: readonly FilterChain[]) => readonly FilterChain[],
): ProxyConfig {
  const listeners = config.listeners.map(listener => ({
    ...listener,
    filterChains: change(listener.filterChains ?? []),
  }));
  return { ...config, listeners };
}

describe('canary: a generator is caught with', () => {
  const mutations: Readonly<Record<string, (config: ProxyConfig) => ProxyConfig>> = {
    'no certificate demanded': config =>
      withChains(config, chains =>
        chains.map(chain =>
          chain.transportSocket?.typedConfig === undefined
            ? chain
            : {
                ...chain,
                transportSocket: {
                  ...chain.transportSocket,
                  typedConfig: {
                    ...chain.transportSocket.typedConfig,
                    requireClientCertificate: { value: false },
                  } as never,
                },
              },
        ),
      ),
    'plaintext never accepted': config =>
      withChains(config, chains => chains.filter(chain => chain.filterChainMatch?.transportProtocol !== 'raw_buffer')),
    'TLS ended by nobody': config =>
      withChains(config, chains => chains.map(chain => ({ ...chain, transportSocket: undefined }))),
    'ports of their own forgotten': config =>
      withChains(config, chains => chains.filter(chain => (chain.filterChainMatch?.destinationPort?.value ?? 0) === 0)),
    'inspectors on every port': config => ({
      ...config,
      listeners: config.listeners.map(listener => ({
        ...listener,
        listenerFilters: (listener.listenerFilters ?? []).map(filter => ({ ...filter, filterDisabled: undefined })),
      })),
    }),
  };
  it.each(Object.keys(mutations))('%s', name => {
    const isCaught = fixed.some((given, i) => differences(given, mutations[name]!(configs[i]!)).length > 0);
    expect(isCaught).toBe(true);
  });
});
