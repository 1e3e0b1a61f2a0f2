// Conditions of push_status, each on a mesh that has it; none on one that has none.

import { describe, expect, it } from 'vitest';
import {
  dnsWithoutEndpoints,
  duplicateSubsets,
  endpointsNotReady,
  listenerConflicts,
} from '../../../src/admin/pages/push-conditions.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { resourceSources } from '../../../src/xds/assemble/types.ts';
import { Engine } from '../../../src/xds/engine/engine.ts';
import { destinationRule, service, serviceEntry, workloadEntry } from '../core/registry/fixtures.ts';
import { world } from '../world.ts';

function conditionsOf(...objects: readonly JsonObject[]) {
  const parts = { world: { state: world(objects), durable: true, stuckMs: 0 }, engine: new Engine(resourceSources) };
  return {
    subsets: duplicateSubsets(parts),
    dns: dnsWithoutEndpoints(parts),
    listeners: listenerConflicts(parts),
    notReady: endpointsNotReady(parts),
  };
}

const none = { subsets: {}, dns: {}, listeners: {}, notReady: {} };
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
});
