import { type Either, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { type Problem, showProblem } from '../../../../src/core/base/problem.ts';
import type { Event } from '../../../../src/core/event.ts';
import {
  meshConfigHandler,
  meshNetworksHandler,
  restoreMesh,
  restoreNetworks,
} from '../../../../src/core/fold/apply-mesh.ts';
import type { Reduced } from '../../../../src/core/fold/reduced.ts';
import type { MeshConfig } from '../../../../src/core/mesh/effective.ts';
import { mergeMeshConfig, meshConfigOf, meshNetworksOf } from '../../../../src/core/mesh/mesh-config.ts';
import { defaultMeshConfig } from '../../../../src/core/mesh/mesh-defaults.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';

function effective(raw: Json): MeshConfig {
  const read = meshConfigOf(raw);
  if (isRight(read)) return read.right.value;
  throw new Error(read.left.map(showProblem).join('; '));
}
function problems(read: Either<readonly Problem[], unknown>): readonly string[] {
  return isRight(read) ? [] : read.left.map(showProblem);
}

describe('mesh configuration from one source', () => {
  test('is the defaults if it is empty', () => {
    expect(effective({})).toEqual(defaultMeshConfig);
  });
  test.each<[string, JsonObject, Partial<MeshConfig>]>([
    ['a scalar replaces', { accessLogFile: '/dev/stdout' }, { accessLogFile: '/dev/stdout' }],
    ['the proto name of a field counts too', { access_log_file: '/x' }, { accessLogFile: '/x' }],
    ['a list replaces', { defaultServiceExportTo: ['.'] }, { defaultServiceExportTo: ['.'] }],
    [
      'a message replaces whole',
      { localityLbSetting: { failover: [{ from: 'a', to: 'b' }] } },
      { localityLbSetting: { failover: [{ from: 'a', to: 'b' }] } },
    ],
    [
      'defaultConfig is merged field by field',
      { defaultConfig: { statusPort: 15099, proxyMetadata: { A: 'b' } } },
      { defaultConfig: { ...defaultMeshConfig.defaultConfig, statusPort: 15099, proxyMetadata: { A: 'b' } } },
    ],
    [
      'a provider of the same name replaces in place, a new one is appended',
      {
        extensionProviders: [
          { name: 'stackdriver', datadog: { service: 'd.com', port: 1 } },
          { name: 'x', prometheus: {} },
        ],
      },
      {
        extensionProviders: [
          { name: 'prometheus', prometheus: {} },
          { name: 'stackdriver', datadog: { service: 'd.com', port: 1 } },
          { name: 'envoy', envoyFileAccessLog: { path: '/dev/stdout' } },
          { name: 'x', prometheus: {} },
        ],
      },
    ],
    [
      'aliases of the trust domain are sorted',
      { trustDomainAliases: ['b', 'a', 'b'] },
      { trustDomainAliases: ['a', 'b'] },
    ],
    ['null is absent', { trustDomain: null }, { trustDomain: 'cluster.local' }],
  ])('is merged: %s', (_rule, raw, expected) => {
    expect(effective(raw)).toEqual({ ...defaultMeshConfig, ...expected });
  });
  test('prefers tracingServiceName to serviceCluster, which exclude each other', () => {
    const { defaultConfig } = effective({ defaultConfig: { tracingServiceName: 'CANONICAL_NAME_ONLY' } });
    expect(defaultConfig.tracingServiceName).toBe('CANONICAL_NAME_ONLY');
    expect(defaultConfig.serviceCluster).toBeUndefined();
  });
  test('is merged under a second source by the same rules', () => {
    const first = effective({
      trustDomainAliases: ['b'],
      defaultProviders: { metrics: ['prometheus'], tracing: ['x'] },
      defaultConfig: { proxyMetadata: { A: '1', B: '1' }, proxyHeaders: { requestId: { disabled: true } } },
    });
    const merged = mergeMeshConfig(first, {
      trustDomainAliases: ['a'],
      defaultProviders: { tracing: [] },
      defaultConfig: { proxyMetadata: { B: '2' }, proxyHeaders: { server: { disabled: true } } },
    });
    expect(merged.trustDomainAliases).toEqual(['a', 'b']);
    expect(merged.defaultProviders).toEqual({ metrics: ['prometheus'], tracing: [] });
    expect(merged.defaultConfig.proxyMetadata).toEqual({ A: '1', B: '2' });
    expect(merged.defaultConfig.proxyHeaders).toEqual({ requestId: { disabled: true }, server: { disabled: true } });
  });
});

describe('mesh configuration is accepted', () => {
  test.each<[Json, string]>([
    [{ extensionProviders: [{ name: 'x' }] }, 'extensionProviders[3]: is empty; expected one provider, such as zipkin'],
    [
      { extensionProviders: [{ name: 'x', zipkin: { service: 'z.com' } }] },
      'extensionProviders[3].zipkin.port: is missing; expected a port from 1 to 65535',
    ],
  ])('for %j, with the warning %s', (raw, warning) => {
    const read = meshConfigOf(raw);
    expect(isRight(read) && read.right.warnings.map(showProblem)).toEqual([warning]);
  });
  test.each<[Json]>([
    [{ trustDomain: 'Some.Domain.', protocolDetectionTimeout: '-1s', rootNamespace: 'any thing' }],
    [{ serviceSettings: [{ hosts: ['*a.b', '*-c'] }] }],
  ])('for %j', raw => {
    expect(problems(meshConfigOf(raw))).toEqual([]);
  });
});

describe('mesh configuration is refused', () => {
  test.each<[Json, string]>([
    ['mesh', 'expected an object, found the string "mesh"'],
    [{ enableTracing: 'yes' }, 'enableTracing: expected true or false, found the string "yes"'],
    [{ proxyListenPort: 99999 }, 'proxyListenPort: 99999 is not a port: expected a number from 1 to 65535'],
    [{ connectTimeout: '0s' }, 'connectTimeout: 0s is too short: expected at least 1ms'],
    [{ connectTimeout: '2h' }, 'connectTimeout: 7200s is more than an hour'],
    [{ trustDomain: 'a b' }, 'trustDomain: "a b" is not a trust domain: expected letters, digits and "-" between dots'],
    [{ meshMTLS: { ecdhCurves: ['P-256'] } }, 'meshMTLS.ecdhCurves: is not supported'],
    [
      { defaultConfig: { tracing: { datadog: { address: '$(HOST_IP)' } } } },
      'defaultConfig.tracing.datadog.address: "127.0.0.1" is not an address: expected host:port',
    ],
    [
      { defaultConfig: { privateKeyProvider: { qat: { pollDelay: '0s' } } } },
      'defaultConfig.privateKeyProvider.qat.pollDelay: is missing, or 0',
    ],
    [
      { defaultConfig: { discoveryAddress: 'istiod' } },
      'defaultConfig.discoveryAddress: "istiod" is not an address: expected host:port',
    ],
  ])('for %j: %s', (raw, problem) => {
    expect(problems(meshConfigOf(raw))).toEqual([problem]);
  });
  test.each<[Json, string]>([
    [
      { networks: { n: { endpoints: [{ fromCidr: '10.0.0.0/33' }] } } },
      'networks[n].endpoints[0].fromCidr: "10.0.0.0/33" is neither an IP address nor a prefix such as 10.0.0.0/8',
    ],
    [
      { networks: { n: { endpoints: [{ fromRegistry: 'a.b' }] } } },
      'networks[n].endpoints[0].fromRegistry: "a.b" is not the name of a cluster',
    ],
    [
      { networks: { n: { gateways: [{ address: '1.2.3.4' }] } } },
      'networks[n].gateways[0].port: is missing; expected a port from 1 to 65535',
    ],
  ])('for networks %j: %s', (raw, problem) => {
    expect(problems(meshNetworksOf(raw))).toEqual([problem]);
  });
});

describe('a fact about the mesh', () => {
  const said = (state: State, seq: number, value: Json): Reduced => {
    const event: Event & { readonly kind: 'MeshConfig' } = {
      seq,
      time: 0,
      source: 'file/k',
      kind: 'MeshConfig',
      value,
    };
    return meshConfigHandler(state, event);
  };
  const [first] = said(emptyState, 1, { accessLogFile: '/a', defaultConfig: { statusPort: 15099 } });

  test('pushes everything for a change, and unchanged fields keep their identity', () => {
    const [second, effects] = said(first, 2, { accessLogFile: '/b', defaultConfig: { statusPort: 15099 } });
    expect(effects).toMatchObject([{ kind: 'Push', request: { full: true, forced: true, reasons: { global: 1 } } }]);
    expect(second.mesh.effective.accessLogFile).toBe('/b');
    expect(second.mesh.effective.defaultConfig).toBe(first.mesh.effective.defaultConfig);
    expect(second.mesh.effective.extensionProviders).toBe(emptyState.mesh.effective.extensionProviders);
  });
  test('pushes nothing for equivalent content', () => {
    const again = { defaultConfig: { statusPort: 15099 }, accessLogFile: '/a', enableTracing: true };
    const [second, effects] = said(first, 2, again);
    expect(effects).toEqual([]);
    expect(second.mesh.effective).toBe(first.mesh.effective);
    expect(second.mesh.raw).toEqual(again);
  });
  test('keeps the value before a refused one, until the next good one', () => {
    const [second, effects] = said(first, 2, { proxyListenPort: 0 });
    expect(effects).toMatchObject([{ kind: 'Verdict', object: 'MeshConfig', accepted: false }]);
    expect(second.mesh.effective).toBe(first.mesh.effective);
    expect(second.mesh.refused).toMatchObject({ at: 2, raw: { proxyListenPort: 0 } });
    const [third, after] = said(second, 3, { accessLogFile: '/a', defaultConfig: { statusPort: 15099 } });
    expect(after).toEqual([{ kind: 'Verdict', object: 'MeshConfig', accepted: true, problems: [] }]);
    expect(third.mesh.refused).toBeUndefined();
  });
  test('reports an unknown field and otherwise ignores it', () => {
    const [second, effects] = said(emptyState, 1, { accesLogFile: '/a' });
    expect(effects).toEqual([
      {
        kind: 'Verdict',
        object: 'MeshConfig',
        accepted: true,
        problems: [{ path: 'accesLogFile', message: 'unknown field' }],
      },
    ]);
    expect(second.mesh.effective).toBe(emptyState.mesh.effective);
  });
  test('restores the defaults when its source is gone', () => {
    const [second, effects] = said(first, 2, null);
    expect(second.mesh).toEqual({ effective: defaultMeshConfig, raw: undefined, at: 2 });
    expect(effects).toHaveLength(1);
  });
  test('survives a snapshot, with what was refused beside it', () => {
    const [second] = said(first, 2, { proxyListenPort: 0 });
    const { raw, at, refused } = second.mesh;
    const fact = { kind: 'MeshConfig', value: raw, at, refused: refused as unknown as Json };
    expect(restoreMesh(emptyState, fact).mesh).toEqual(second.mesh);
    expect(restoreNetworks(emptyState, { kind: 'MeshNetworks', at: 0 }).networks).toEqual(emptyState.networks);
  });
  test('keeps the identity of unchanged networks', () => {
    const networks = (seq: number, state: State, value: Json): Reduced =>
      meshNetworksHandler(state, { seq, time: 0, source: 'file/k', kind: 'MeshNetworks', value });
    const east = { endpoints: [{ fromRegistry: 'east' }] };
    const [before] = networks(1, emptyState, { networks: { east } });
    const [after, effects] = networks(2, before, { networks: { east, west: {} } });
    expect(after.networks.effective.networks.east).toBe(before.networks.effective.networks.east);
    expect(effects).toMatchObject([{ kind: 'Push', request: { full: true, reasons: { networks: 1 } } }]);
  });
});
