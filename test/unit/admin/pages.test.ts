// Debug pages about configuration, in istiod's shapes.

import { describe, expect, it } from 'vitest';
import { withoutDebug } from '../../../src/admin/debug.ts';
import { text } from '../../../src/admin/http.ts';
import { jsonParts } from '../../../src/admin/json-text.ts';
import { configzOf } from '../../../src/admin/pages/configuration.ts';
import { sidecarPage } from '../../../src/admin/pages/sidecar-scope.ts';
import type { State } from '../../../src/core/state.ts';
import { resourceSources } from '../../../src/xds/assemble/types.ts';
import { Engine } from '../../../src/xds/engine/engine.ts';
import { destinationRule, service, serviceEntry } from '../core/registry/fixtures.ts';
import { nodeOf, step, world } from '../world.ts';

const entry = (name: string, labels: Record<string, string>) =>
  serviceEntry(name, { hosts: [`${name}.example`], resolution: 'DNS' }, { labels });

async function names(state: State): Promise<readonly unknown[]> {
  const text = Buffer.concat(await jsonParts(configzOf(state))).toString();
  return (JSON.parse(text) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
}

describe('configz', () => {
  const objects = [entry('ours', { 'istio.io/rev': 'canary' }), entry('theirs', { 'istio.io/rev': 'stable' })];
  const all = [...objects, entry('common', {}), service('web', {}, { labels: { 'istio.io/rev': 'stable' } })];

  it('has no configuration of another revision, and Services whatever their labels', async () => {
    expect(await names(world(all, { settings: { revision: 'canary' } }))).toEqual(['common', 'ours', 'web']);
  });

  it('has that of all revisions where the control plane has none', async () => {
    expect(await names(world(all))).toEqual(['common', 'ours', 'theirs', 'web']);
  });
});

describe('sidecarz', () => {
  const sidecar = {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name: 'narrow', namespace: 'default' },
    spec: { egress: [{ hosts: ['./web.default.svc.cluster.local'] }] },
  };
  const rule = destinationRule('r', 'web', { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } });
  const fact = { kind: 'ProxyConnected', source: 'xds', connection: 'c-1', node: nodeOf(), protocol: 'sotw' } as const;
  const { state } = step(world([service('web'), service('other'), sidecar, rule]), fact);
  const page = (query: string, viewer: Parameters<typeof sidecarPage>[2] = 'all') =>
    sidecarPage(
      { world: { state, durable: true, stuckMs: 0 }, engine: new Engine(resourceSources) },
      new URLSearchParams(query),
      viewer,
    );

  it('shows what the Sidecar of a proxy lets it see', async () => {
    const { status, body } = await page('proxyID=c-1');
    const shown = JSON.parse(typeof body === 'string' ? body : Buffer.concat(body).toString());
    const host = 'web.default.svc.cluster.local';
    expect(status).toBe(200);
    expect(shown).toMatchObject({ name: 'narrow', namespace: 'default', sidecar: sidecar.spec });
    expect(shown.services.map(({ hostname }: { hostname: string }) => hostname)).toEqual([host]);
    expect(Object.keys(shown.servicesByHostname)).toEqual([host]);
    expect(shown.egressListenerServices).toHaveLength(1);
    expect(shown.destinationRules).toEqual({ [host]: [{ from: ['default/r'] }] });
  });

  it('answers 400 without a proxy, and 404 for one that the caller may not see', async () => {
    expect((await page('')).status).toBe(400);
    expect((await page('proxyID=c-1', { namespace: 'other' })).status).toBe(404);
  });
});

it('Debug pages are not there without ENABLE_DEBUG_ON_HTTP; what probes and Prometheus ask for is', () => {
  const paths = ['/debug', '/debug/configz', '/ready', '/live', '/metrics', '/version', '/debugger'];
  const left = withoutDebug(new Map(paths.map(path => [path, () => text(path)])));
  expect([...left.keys()]).toEqual(['/ready', '/live', '/metrics', '/version', '/debugger']);
});
