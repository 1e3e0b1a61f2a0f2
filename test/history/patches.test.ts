// What the history says of EnvoyFilters: which of them, and which of their fields, made a resource as it is, and which
// change would break proxies.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { diffMeshes } from '../../src/history/diff.ts';
import { explain } from '../../src/history/explain.ts';
import { History } from '../../src/history/history.ts';
import { proxyNamed } from '../../src/history/proxies.ts';
import { clusterSubject } from '../../src/history/subject.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { entry, envoyFilter, luaFilter } from '../unit/xds/generate/patch/patch-scene.ts';

const NODE: JsonObject = {
  id: 'sidecar~10.1.0.1~web.prod~prod.svc.cluster.local',
  metadata: { NAMESPACE: 'prod', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'web' } },
};
const shop: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'shop', namespace: 'prod' },
  spec: { clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 8080 }] },
};

async function historyOf(...objects: readonly JsonObject[]): Promise<History> {
  const journal = await openMemoryJournal({ clock: () => 1_000 });
  await journal.append([
    ...[shop, ...objects].map(object => ({ source: 'file/Kubernetes', kind: 'Add', object }) as const),
    { source: 'xds', kind: 'ProxyConnected', connection: 'web', node: NODE, protocol: 'delta', identities: [] },
  ]);
  return new History(journal);
}

describe('explain for a patched cluster', () => {
  it('names the EnvoyFilter and the field that changed it, and not the one that did not', async () => {
    const match = { cluster: { service: 'shop.prod.svc.cluster.local' } };
    const history = await historyOf(
      envoyFilter('acts', [entry('CLUSTER', 'MERGE', { connect_timeout: '3s', alt_stat_name: 's' }, match)]),
      envoyFilter('idle', [entry('CLUSTER', 'REMOVE', undefined, { cluster: { service: 'other' } })]),
    );
    const state = await history.at(4);
    const subject = clusterSubject('outbound|8080||shop.prod.svc.cluster.local');
    const explained = await explain(history, state, proxyNamed(state, 'web'), subject);
    const cause = explained?.causes.find(({ lastChange }) => lastChange.object === 'EnvoyFilter/prod/acts');
    expect(cause?.paths).toContain('connectTimeout');
    expect(cause?.fields).toContainEqual({
      field: 'spec.configPatches[0].patch.value.connect_timeout',
      value: '3s',
      decides: ['connectTimeout'],
    });
    expect(explained?.readOnly).toContain('EnvoyFilter/prod/idle');
  });
});

describe('diff with a patch that Envoy will refuse', () => {
  it('says what it breaks, of which proxy', async () => {
    const history = await historyOf(
      envoyFilter('behind', [entry('HTTP_FILTER', 'ADD', luaFilter('l'), { context: 'SIDECAR_OUTBOUND' })]),
    );
    const after = await history.at(3);
    const before = {
      ...after,
      objects: { ...after.objects, EnvoyFilter: after.objects.EnvoyFilter.without('prod/behind') },
    };
    const proxies = [proxyNamed(after, 'web')];
    const { classes } = diffMeshes(new Tracker(), { state: before, proxies }, { state: after, proxies });
    expect(classes.map(({ proxies: ids }) => ids)).toEqual([[proxies[0]!.facets.id]]);
    expect(classes[0]?.warnings).toContainEqual({
      kind: 'refused-by-envoy',
      message: '0.0.0.0_8080 has HTTP filters behind the router: Envoy refuses it and keeps what it has',
    });
  });
});
