import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, State } from '../../src/index.ts';
import type { Unrecorded } from '../../src/journal/main.ts';
import {
  backInTime,
  contentsBySource,
  crashed,
  meshLife,
  plain,
  reordered,
  resourcesHeld,
  run,
  settle,
} from '../../src/testing/main.ts';

const source = 'file/Kubernetes';
const cds = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const lds = 'type.googleapis.com/envoy.config.listener.v3.Listener';

/** Our own objects: in a repository of configuration they are read from its files. */
const ours: readonly JsonObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'catalog', namespace: 'shop' },
    spec: {
      clusterIP: '10.96.7.1',
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      selector: { app: 'catalog' },
    },
  },
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: { name: 'catalog', namespace: 'shop' },
    spec: { host: 'catalog', subsets: [{ name: 'stable', labels: { track: 'stable' } }] },
  },
  {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name: 'default', namespace: 'shop' },
    spec: { egress: [{ hosts: ['./*'] }] },
  },
];
const existing = ours.map((object): Unrecorded => ({ source, kind: 'Add', object }));

/** One of our proxies, that watches clusters and listeners. */
const connection = 'web';
const proxy: readonly Unrecorded[] = [
  {
    source: 'xds',
    kind: 'ProxyConnected',
    connection,
    node: { id: 'sidecar~10.20.0.9~web.shop~shop.svc.cluster.local', metadata: { NAMESPACE: 'shop' } },
    protocol: 'delta',
  },
  ...[cds, lds].map(
    (typeUrl): Unrecorded => ({
      source: 'xds',
      kind: 'ProxySubscribed',
      connection,
      typeUrl,
      subscribe: [],
      unsubscribe: [],
      wildcard: true,
    }),
  ),
];

/** What the proxy holds: names and versions, which are hashes of the content. */
const held = (state: State): Promise<readonly string[]> => resourcesHeld(run(plain(proxy), state), connection);

const life = meshLife(4);
const choices = fc.array(fc.nat(), { maxLength: 100, size: 'max' });

test('changes in other namespaces leave our proxy unchanged', async () => {
  const alone = await held(run(plain(existing)));
  expect(alone.some(line => line.startsWith('outbound|80|stable|catalog.shop.svc.cluster.local '))).toBe(true);
  await fc.assert(
    fc.asyncProperty(life, choices, async (facts, order) => {
      expect(await held(run(plain(reordered([...existing, ...facts], order))))).toEqual(alone);
    }),
    { seed: 1, numRuns: 20 },
  );
});

test('a crash or a source that goes back in time leaves our proxy unchanged', async () => {
  const alone = await held(run(plain(existing)));
  await fc.assert(
    fc.asyncProperty(life, fc.nat(), fc.nat(), async (facts, at, back) => {
      const all = [...facts, ...existing];
      const sources = contentsBySource(all);
      expect(await held(settle(run(crashed(all, at % all.length)), sources))).toEqual(alone);
      expect(await held(settle(run(backInTime(all, source, at % all.length, back % all.length)), sources))).toEqual(
        alone,
      );
    }),
    { seed: 1, numRuns: 20 },
  );
});
