// Conditions of push_status, each on a mesh that has it; none on one that has none.

import { describe, expect, it } from 'vitest';
import {
  dnsWithoutEndpoints,
  duplicateSubsets,
  endpointsNotReady,
  endpointsWithoutPod,
  inboundConflicts,
  listenerConflicts,
} from '../../../src/admin/pages/push-conditions.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { resourceSources } from '../../../src/xds/assemble/types.ts';
import { Engine } from '../../../src/xds/engine/engine.ts';
import { destinationRule, pod, service, serviceEntry, slice, workloadEntry } from '../core/registry/fixtures.ts';
import { nodeOf, step, world } from '../world.ts';

function conditionsOf(...objects: readonly JsonObject[]) {
  const parts = { world: { state: world(objects), durable: true, stuckMs: 0 }, engine: new Engine(resourceSources) };
  return {
    subsets: duplicateSubsets(parts),
    dns: dnsWithoutEndpoints(parts),
    listeners: listenerConflicts(parts),
    notReady: endpointsNotReady(parts),
    inbound: inboundConflicts(parts),
    noPod: endpointsWithoutPod(parts),
  };
}

const none = { subsets: {}, dns: {}, listeners: {}, notReady: {}, inbound: {}, noPod: {} };
/** Resolved by DNS; its endpoints are the WorkloadEntries that it selects. */
const selecting: JsonObject = serviceEntry('other', {
  hosts: ['other.example.com'],
  ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
  resolution: 'DNS',
  workloadSelector: { labels: { app: 'other' } },
});

describe('the conditions of push_status', () => {
  it('are absent of a mesh without any', () => {
    expect(conditionsOf(service('web'), destinationRule('r', 'web', { subsets: [{ name: 'v1' }] }))).toEqual(none);
  });

  it('name the host whose DestinationRules repeat a subset', () => {
    const rules = ['a', 'b'].map(name =>
      destinationRule(name, 'web', { subsets: [{ name: 'v1', labels: { v: name } }] }),
    );
    const host = 'web.default.svc.cluster.local';
    const message = `Duplicate subset v1 found while merging destination rules for ${host}`;
    expect(conditionsOf(service('web'), ...rules).subsets).toEqual({ [host]: { message } });
  });

  it('name clusters of DNS that have no endpoint', () => {
    const cluster = 'outbound|80||other.example.com';
    const message = `DNS cluster without endpoints ${cluster} found while pushing CDS`;
    expect(conditionsOf(selecting).dns).toEqual({ [cluster]: { message } });
    const selected = workloadEntry(
      'vm',
      { address: 'vm.example.com', labels: { app: 'other' } },
      { labels: { app: 'other' } },
    );
    expect(conditionsOf(selecting, selected).dns).toEqual({});
  });

  it('name a service whose endpoint refers to a pod that is not there', () => {
    const endpoints = slice('web', [
      { ip: '10.0.0.1', pod: 'web-1' },
      { ip: '10.0.0.2', pod: 'web-2' },
      { ip: '10.0.0.3' },
    ]);
    const found = conditionsOf(service('web'), endpoints, pod('web-1', '10.0.0.1'));
    expect(found.noPod).toEqual({ 'web.default.svc.cluster.local': { message: '10.0.0.2' } });
  });

  it('name a proxy two of whose services disagree about the protocol of its port', () => {
    const own = pod('web-1', '10.0.0.1', { labels: { app: 'web' } });
    const tcp = { selector: { app: 'web' }, ports: [{ name: 'tcp', port: 90, targetPort: 8080 }] };
    const before = world([service('web'), service('other', tcp, { day: 2 }), own]);
    const node = nodeOf({ name: 'web-1', ip: '10.0.0.1', labels: { app: 'web' } });
    const fact = { kind: 'ProxyConnected', source: 'xds', connection: 'c-1', node, protocol: 'sotw' } as const;
    const { state } = step(before, fact);
    const parts = { world: { state, durable: true, stuckMs: 0 }, engine: new Engine(resourceSources) };
    const [web, other] = ['web', 'other'].map(name => `${name}.default.svc.cluster.local`);
    const message = `Conflicting inbound listener:8080. existing: ${web}, incoming: ${other}`;
    expect(inboundConflicts(parts)).toEqual({ 'web-1.default': { proxy: 'web-1.default', message } });
  });
});
