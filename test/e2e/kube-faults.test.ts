// The adapter against a real kube-apiserver through a proxy that misbehaves: no event is lost, invented or recorded
// twice. And the rig of law 9 on the real thing.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { objectOf } from '../../src/adapters/kube/facts.ts';
import { connectKube, type KubeAdapter } from '../../src/adapters/kube/kube-adapter.ts';
import { customKinds, resourceOf } from '../../src/adapters/kube/resource.ts';
import { canonicalJson, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { definitionOf, definitions } from '../../src/core/kinds/registry.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FoldingSink, liveChanges, type RigSource, relistAfterGap, resync } from '../../src/testing/adapter-rig.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { FaultProxy } from './kube/fault-proxy.ts';
import { configMap, namespace, SYSTEM } from './kube/mesh.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const SOURCE = 'kube/Kubernetes';
const SILENCE_MS = 2_000;
const WRITES = 200;
const chance = { now: systemClock.now, after: systemClock.after, random: Math.random };

describe.runIf(binaries !== undefined)('a cluster behind a proxy', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let proxy: FaultProxy;
  let adapter: KubeAdapter | undefined;

  const open = async (silenceMsMax = SILENCE_MS): Promise<KubeAdapter> => {
    const kubeconfig = await cluster.kubeconfig('proxied', undefined, proxy.url);
    const limit = { qps: 80, burst: 160 };
    const options = { cluster: 'Kubernetes', kubeconfig, limit, chance, silenceMsMax };
    return (await connectKube({ ...options, log: () => undefined, userAgent: 'test' })).adapter;
  };
  const start = async (sink: FoldingSink): Promise<void> => {
    adapter = await open();
    await adapter.start(sink);
  };
  /** The ConfigMaps of the system namespace, in the cluster and in a state. */
  const inCluster = async (): Promise<string> => {
    const list = await admin.get(`/api/v1/namespaces/${SYSTEM}/configmaps`);
    const items = (list.items as readonly JsonObject[]).map(({ metadata, data }) => [nameOf(metadata), data ?? {}]);
    return canonicalJson(Object.fromEntries(items) as Json);
  };
  const inState = (sink: FoldingSink): string => {
    const held = [...sink.state.objects.ConfigMap.values()].filter(({ namespace: one }) => one === SYSTEM);
    return canonicalJson(Object.fromEntries(held.map(({ name, spec }) => [name, (spec as { data: Json }).data])));
  };
  const same = async (sink: FoldingSink): Promise<void> => {
    const wanted = await inCluster();
    await until('the state of the cluster', () => inState(sink) === wanted);
  };
  const change = async (round: string, during?: (i: number) => void): Promise<void> => {
    for (let i = 0; i < WRITES; i++) {
      await admin.put(configMap(`c-${i % 20}`, { round, i: String(i) }));
      if (i % 40 === 39) await admin.remove(configMap(`c-${i % 20}`, {}));
      during?.(i);
    }
  };
  const changesSaid = (sink: FoldingSink, from: number): number =>
    sink.facts.slice(from).filter(fact => fact.kind !== 'Synced').length;

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    admin = cluster.client();
    proxy = await FaultProxy.start(cluster);
    await installDefinitions(admin);
    await admin.put(namespace(SYSTEM));
  }, 300_000);

  afterEach(async () => {
    await adapter?.stop();
    adapter = undefined;
    Object.assign(proxy, { repeat: false, delayMs: 0, frozen: false, expired: 0 });
  });

  afterAll(async () => {
    await proxy?.stop();
    admin?.close();
    await cluster?.stop();
  });

  it('records repeated and late events once', async () => {
    const sink = new FoldingSink(SOURCE);
    await start(sink);
    const before = sink.facts.length;
    proxy.repeat = true;
    await change('repeated');
    await same(sink);
    expect(changesSaid(sink, before)).toBe(WRITES + WRITES / 40);
  });

  it('loses nothing on a slow network', async () => {
    const sink = new FoldingSink(SOURCE);
    proxy.delayMs = 300;
    await start(sink);
    await change('slow');
    await same(sink);
  });

  it('loses nothing when connections break, and lists nothing again', async () => {
    const sink = new FoldingSink(SOURCE);
    await start(sink);
    const { lists } = proxy;
    await change('cut', i => (i % 50 === 25 ? proxy.cut() : undefined));
    await same(sink);
    expect(proxy.lists).toBe(lists);
  });

  it('notices connections that go dead silently', async () => {
    const sink = new FoldingSink(SOURCE);
    await start(sink);
    proxy.frozen = true;
    await change('frozen');
    await new Promise(resolve => setTimeout(resolve, SILENCE_MS));
    proxy.frozen = false;
    await same(sink);
  });

  it('lists again when its version is too old, and records only differences', async () => {
    const sink = new FoldingSink(SOURCE);
    await start(sink);
    await same(sink);
    const before = sink.facts.length;
    const { lists } = proxy;
    proxy.expired = 40;
    proxy.cut();
    await until('lists', () => proxy.expired === 0 && proxy.lists > lists);
    await admin.put(configMap('c-1', { round: 'expired' }));
    await same(sink);
    expect(changesSaid(sink, before)).toBe(1);
  });

  it('records only differences after etcd and the API server die and history is compacted', async () => {
    const sink = new FoldingSink(SOURCE);
    await start(sink);
    await same(sink);
    const before = sink.facts.length;
    await cluster.compact();
    await cluster.killApiserver();
    await cluster.killEtcd();
    await cluster.startEtcd();
    await cluster.startApiserver();
    await admin.put(configMap('c-1', { round: 'after the death of all' }));
    await same(sink);
    expect(sink.facts.slice(before).filter(fact => fact.kind === 'Delete')).toEqual([]);
    expect(sink.facts.slice(before).filter(isOfOurs).length).toBe(1);
  });

  it('receives nothing but GET requests', () => {
    expect([...proxy.methods]).toEqual(['GET']);
  });

  describe('law 9: the rig', () => {
    const OBJECTS = [resourceOf(definitions.Service, 'v1', 'services')];
    const virtualServices = customKinds.find(({ kind }) => kind === 'VirtualService')!;
    OBJECTS.push(resourceOf(virtualServices, 'v1', 'virtualservices'));

    const real = (): RigSource => {
      const known = new Map<string, JsonObject>();
      const opened: { start: KubeAdapter | undefined } = { start: undefined };
      const ours = (raw: JsonObject): boolean =>
        (raw.kind === 'Service' || raw.kind === 'VirtualService') && nameOf(raw.metadata) !== 'kubernetes';
      return {
        set: async (name, object) => {
          const before = known.get(name);
          if (object !== undefined) {
            known.set(name, object);
            await admin.put(object);
          } else if (before !== undefined) await admin.remove(before);
        },
        open: () => ({
          source: SOURCE,
          start: async sink => {
            opened.start = await open();
            await opened.start.start(sink);
          },
          stop: async () => opened.start?.stop(),
          status: () => ({ synced: true, waiting: [], troubles: [], unreadable: [] }),
        }),
        seen: raw => (ours(raw) ? projected(raw) : undefined),
        held: async () => {
          const lists = await Promise.all(
            OBJECTS.map(async resource => {
              const list = await admin.get(resource.path);
              return (list.items as readonly JsonObject[]).map(item => projected(objectOf(resource, item)));
            }),
          );
          return lists.flat().filter(ours);
        },
      };
    };
    const clear = async (source: RigSource): Promise<void> => {
      for (const object of (await source.held?.()) ?? []) await admin.remove(object);
      await until('nothing', async () => (await source.held?.())?.length === 0);
    };

    it.each([false, true])(
      'records adds, updates and deletes while it watches (each event sent twice: %s)',
      async twice => {
        const source = real();
        await clear(source);
        expect(await liveChanges(source, SOURCE, twice)).toEqual([]);
      },
    );
    it('records the differences when it lists after a gap', async () => {
      const source = real();
      await clear(source);
      expect(await relistAfterGap(source, SOURCE)).toEqual([]);
    });
    it('records nothing for a list without differences', async () => {
      const source = real();
      await clear(source);
      expect(await resync(source, SOURCE)).toEqual([]);
    });
  });
});

/** Without who wrote it, and when. */
function projected(raw: JsonObject): JsonObject {
  return definitionOf(raw.apiVersion, raw.kind)?.project(raw) ?? raw;
}

function nameOf(metadata: Json | undefined): string {
  return String((metadata as { readonly name?: string } | undefined)?.name);
}

function isOfOurs(fact: FoldingSink['facts'][number]): boolean {
  if (fact.kind !== 'Add' && fact.kind !== 'Update') return false;
  const { namespace: one } = (fact.object.metadata ?? {}) as { readonly namespace?: string };
  return fact.object.kind === 'ConfigMap' && one === SYSTEM;
}
