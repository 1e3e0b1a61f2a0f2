// Where the filters of traffic extensions stand in the listeners of a sidecar, and by which port they fit.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';
import { hcm, type ListenerScene, workloadScene } from './scene.ts';

const HTTP: JsonObject = { name: 'http', port: 80, targetPort: 8080 };
const TCP: JsonObject = { name: 'tcp', port: 90, targetPort: 9090 };
const PREFIX = 'extensions.istio.io/trafficextension/prod.';

const extension = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'extensions.istio.io/v1alpha1',
  kind: 'TrafficExtension',
  metadata: { name, namespace: 'prod' },
  spec,
});
const lua = (name: string, match: JsonObject): JsonObject =>
  extension(name, { match: [match], lua: { inlineCode: 'function envoy_on_request(h) end' } });
const network = (name: string, spec: JsonObject): JsonObject =>
  extension(name, { ...spec, wasm: { url: 'file:///a.wasm', type: 'NETWORK' } });

const short = (names: readonly (string | undefined)[]): readonly string[] =>
  names.filter(name => name?.startsWith(PREFIX)).map(name => (name ?? '').slice(PREFIX.length));
const filtersOf = (chain: FilterChain): readonly string[] => short((chain.filters ?? []).map(({ name }) => name));
/** Extensions of each chain for a port of the workload: network filters, and HTTP filters behind a bar. */
function inbound(scene: ListenerScene, port: number): readonly string[] {
  const chains = scene
    .chains('app', 'virtualInbound')
    .filter(({ filterChainMatch }) => (filterChainMatch?.destinationPort?.value ?? 0) === port);
  return [...new Set(chains.map(chain => [...filtersOf(chain), ...http(chain)].join(' ')))].sort();
}

function http(chain: FilterChain): readonly string[] {
  const isHttp = (chain.filters ?? []).some(({ name }) => name === 'envoy.filters.network.http_connection_manager');
  return isHttp ? ['|', ...short((hcm(chain).httpFilters ?? []).map(({ name }) => name))] : [];
}

describe('traffic extensions of a sidecar', () => {
  it('fit inbound HTTP by the port of the workload, inbound TCP by that of the service', () => {
    const scene = workloadScene(
      [HTTP, TCP],
      [
        lua('by-target', { ports: [{ number: 8080 }] }),
        lua('by-service', { ports: [{ number: 80 }] }),
        network('tcp-by-service', { match: [{ ports: [{ number: 90 }] }] }),
        network('tcp-by-target', { match: [{ ports: [{ number: 9090 }] }] }),
      ],
    );
    expect(inbound(scene, 8080)).toEqual(['| by-target']);
    expect(inbound(scene, 9090)).toEqual(['tcp-by-service']);
    expect(inbound(scene, 0).join('')).not.toContain('by-');
  });

  it('fit by the side of the traffic, and stand in passthrough chains and in no fallthrough chain', () => {
    const scene = workloadScene(
      [HTTP, TCP],
      [
        lua('server', { mode: 'SERVER' }),
        lua('client', { mode: 'CLIENT' }),
        network('both', { phase: 'AUTHN', priority: 1 }),
        network('later', {}),
      ],
    );
    expect(inbound(scene, 8080)).toEqual(['both later | server']);
    expect(inbound(scene, 9090)).toEqual(['both later']);
    expect(inbound(scene, 0)).toEqual(['both later', 'both later | server']);
    const [outbound] = scene.chains('app', '0.0.0.0_80');
    expect([...filtersOf(outbound!), ...http(outbound!)]).toEqual(['both', 'later', '|', 'client']);
    const virtual = scene.listener('app', 'virtualOutbound');
    const last = [...(virtual.filterChains ?? []), ...(virtual.defaultFilterChain ? [virtual.defaultFilterChain] : [])];
    expect(last.flatMap(filtersOf)).toEqual([]);
  });
});
