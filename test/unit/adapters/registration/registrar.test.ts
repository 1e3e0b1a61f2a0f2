// Machines that register: what their WorkloadEntry says, who may have one, and how it goes.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { whyNotRegistered } from '../../../../src/core/registration/registration.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { GRACE_MS, group, IDENTITY, machineNode, Scene } from './scene.ts';

const PROBE = { PROXY_CONFIG: { readinessProbe: { httpGet: { port: 80 } } } };
const NAME = 'vms-10.1.2.3';

/** One that an API server has, as some control plane left it. */
function entry(annotations: JsonObject, status?: JsonObject): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'WorkloadEntry',
    metadata: { name: NAME, namespace: 'shop', uid: 'entry-uid', annotations },
    spec: { address: '10.1.2.3', serviceAccount: 'vm' },
    ...(status === undefined ? {} : { status }),
  };
}

const plan = (wish: Wish | undefined, live: JsonObject | undefined) =>
  planOf(wish!, live, 'networking.istio.io/v1', 'WorkloadEntry', '2026-01-01T00:00:00Z');
const healthy = (status: string) => ({ conditions: [{ type: 'Healthy', status }] });

describe('a machine that registers without an API server', () => {
  it('is a WorkloadEntry of its group', async () => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', {
      ...machineNode({ LABELS: { tier: 'x', 'istio-locality': 'r.z' } }),
      locality: { region: 'r', zone: 'z' },
    });
    expect(scene.entry()).toMatchObject({
      labels: { app: 'db', tier: 'x' },
      annotations: {
        'istio.io/autoRegistrationGroup': 'vms',
        'istio.io/workloadController': 'one',
        'istio.io/connectedAt': '2023-11-14T22:13:20.000Z',
      },
      spec: { address: '10.1.2.3', serviceAccount: 'vm', labels: { app: 'db', tier: 'x' }, locality: 'r/z' },
    });
  });

  it.each<[string, JsonObject, string, string]>([
    ['its network', { NETWORK: 'net' }, '10.0.0.1', 'vms-10.0.0.1-net'],
    ['an IPv6 address without colons', {}, 'fd00::1', 'vms-fd00--1'],
  ])('is named after its group and %s', async (_, metadata, ip, name) => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', machineNode(metadata, ip));
    expect(scene.entry(name)?.spec.address).toBe(ip);
  });

  it('stays for a grace period after it left, and is gone then', async () => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', machineNode());
    await scene.disconnect('c');
    await scene.pass(GRACE_MS - 1);
    expect(scene.entry()?.annotations['istio.io/disconnectedAt']).toBe('2023-11-14T22:13:20.000Z');
    await scene.pass(1);
    expect(scene.entry()).toBeUndefined();
    expect(scene.counted).toEqual(['success', 'unregister', 'deletes']);
  });

  it('stays when it comes back in time, also over another connection that came first', async () => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', machineNode());
    await scene.connect('d', machineNode());
    await scene.disconnect('c');
    await scene.pass(10 * GRACE_MS);
    expect(scene.entry()).toBeDefined();
    await scene.disconnect('d');
    await scene.connect('e', machineNode());
    await scene.pass(10 * GRACE_MS);
    expect(scene.entry()?.annotations['istio.io/disconnectedAt']).toBeUndefined();
  });

  it('says its health once for each change of it', async () => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', machineNode(PROBE));
    expect(scene.entry()?.annotations['proxy.istio.io/health-checks-enabled']).toBe('true');
    await scene.health('c', true);
    expect(scene.entry()?.spec.status).toEqual(healthy('True'));
    await scene.health('c', false, 'refused');
    expect(scene.entry()?.spec.status).toEqual(healthy('False'));
    const { seq } = scene.state;
    await scene.health('c', false, 'refused');
    expect(scene.state.seq).toBe(seq);
  });

  it('goes with its group, and registers again when that comes back', async () => {
    const scene = await new Scene().put(group()).start();
    await scene.connect('c', machineNode());
    scene.remove('WorkloadGroup', 'vms');
    await scene.pass(0);
    expect(scene.entry()).toBeUndefined();
    scene.put(group({ template: { serviceAccount: 'vm', weight: 3 } }));
    await scene.pass(0);
    expect(scene.entry()?.spec.weight).toBe(3);
  });

  it('of an earlier process has time to come back', async () => {
    const before = await new Scene().put(group()).start();
    await before.connect('c', machineNode(PROBE));
    await before.health('c', true);
    const after = new Scene();
    after.fold([]);
    after.state = before.state;
    after.registrar.onState(before.state);
    await after.start();
    await after.pass(9 * GRACE_MS);
    expect(after.entry()).toMatchObject({ labels: { app: 'db' }, spec: { status: healthy('True') } });
    await after.pass(GRACE_MS);
    expect(after.entry()).toBeUndefined();
  });
});

describe('registration', () => {
  const refusalOf = (scene: Scene, metadata: JsonObject, identities: readonly string[] = [IDENTITY]) => {
    const [fact] = [machineNode(metadata)];
    const facets = { namespace: 'shop', ips: ['10.1.2.3'], network: '', id: 'vm-1.shop' };
    const proxy = { node: fact, metadata: fact.metadata as JsonObject, identities, facets };
    return whyNotRegistered(scene.state, proxy as unknown as Parameters<typeof whyNotRegistered>[1]);
  };

  it('is refused without a group, an identity, or with that of another namespace or account', () => {
    const scene = new Scene();
    expect(refusalOf(scene, {})).toEqual({
      status: 'FAILED_PRECONDITION',
      error: 'auto-registration WorkloadEntry of vm-1.shop failed: cannot find WorkloadGroup shop/vms',
    });
    scene.put(group());
    expect(refusalOf(scene, {})).toBeUndefined();
    const denied = (identities: readonly string[], metadata: JsonObject = {}) => refusalOf(scene, metadata, identities);
    expect(denied([])?.error).toBe('registration of WorkloadEntry requires a verified identity');
    expect(denied(['spiffe://cluster.local/ns/shop/sa/other'], { SERVICE_ACCOUNT: 'other' })?.error).toBe(
      'registration of WorkloadEntry service account mismatch: "other" vs "vm"',
    );
    expect(denied([IDENTITY])).toBeUndefined();
  });

  it('goes by the account of a WorkloadEntry that is there, not by that of the group', () => {
    const scene = new Scene().put(group({ template: {} }), entry({}));
    const other = 'spiffe://cluster.local/ns/shop/sa/other';
    expect(refusalOf(scene, { SERVICE_ACCOUNT: 'other' }, [other])?.status).toBe('PERMISSION_DENIED');
  });

  it('needs no identity where the operator says so, and does nothing where it is off', () => {
    const lax = new Scene({}, { ISTIO_WORKLOAD_ENTRY_VALIDATE_IDENTITY: 'false' }).put(group());
    expect(refusalOf(lax, {}, [])).toBeUndefined();
    const off = new Scene({}, { PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION: 'false' });
    expect(refusalOf(off, {})).toBeUndefined();
  });

  it('of a proxy that names a WorkloadEntry needs that one', () => {
    const scene = new Scene();
    const named = { AUTO_REGISTER_GROUP: '', WORKLOAD_ENTRY: NAME };
    expect(refusalOf(scene, named)?.error).toContain(`however WorkloadEntry shop/${NAME} is not found`);
    scene.put(entry({}));
    expect(refusalOf(scene, named, [])).toBeUndefined();
    for (const value of ['true', 'false']) {
      scene.put(entry({ 'proxy.istio.io/health-checks-enabled': value }));
      expect(refusalOf(scene, named, [])?.error).toContain('verified identity');
    }
  });
});

describe('a machine that registers with an API server', () => {
  const written = { isWritten: true };
  const live = (scene: Scene, annotations: JsonObject, status?: JsonObject): JsonObject => {
    const object = entry(annotations, status);
    scene.put(object);
    const managedFields = [{ manager: 'pilot-discovery', operation: 'Update', fieldsV1: {} }];
    return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion: '7', managedFields } };
  };
  const OWN = { 'istio.io/autoRegistrationGroup': 'vms', 'istio.io/workloadController': 'one' };

  it('is wished for as a WorkloadEntry that its group owns', async () => {
    const scene = await new Scene(written).put(group()).start();
    await scene.connect('c', machineNode(PROBE));
    expect(scene.entry()).toBeUndefined();
    const [wish, ...more] = scene.wishes();
    expect(more).toEqual([]);
    expect(plan(wish, undefined)).toMatchObject({
      kind: 'create',
      object: {
        metadata: {
          name: NAME,
          labels: { app: 'db' },
          annotations: { ...OWN, 'istio.io/connectedAt': '2023-11-14T22:13:20.000Z' },
          ownerReferences: [{ kind: 'WorkloadGroup', name: 'vms', uid: 'group-uid', controller: true }],
        },
        spec: { address: '10.1.2.3', serviceAccount: 'vm' },
      },
    });
  });

  it('takes over the WorkloadEntry that another process left, and leaves its spec alone', async () => {
    const scene = await new Scene(written).put(group()).start();
    const left = live(scene, {
      ...OWN,
      'istio.io/workloadController': 'two',
      'istio.io/disconnectedAt': '2023-11-14T22:13:19Z',
    });
    await scene.connect('c', machineNode());
    expect(plan(scene.wishes()[0], left)).toEqual({
      kind: 'merge',
      patch: {
        metadata: {
          annotations: {
            'istio.io/workloadController': 'one',
            'istio.io/connectedAt': '2023-11-14T22:13:20.000Z',
            'istio.io/disconnectedAt': null,
          },
          resourceVersion: '7',
        },
      },
    });
  });

  it('is left to the process that it connected to later', async () => {
    const scene = await new Scene(written).put(group()).start();
    await scene.connect('c', machineNode());
    const [wish] = scene.wishes();
    const later = { ...OWN, 'istio.io/workloadController': 'two', 'istio.io/connectedAt': '2023-11-14T22:13:21Z' };
    expect(plan(wish, live(scene, later)).kind).toBe('none');
    await scene.pass(0);
    expect(scene.wishes()).toEqual([]);
  });

  it('has its health written to the status, by its own process only', async () => {
    const scene = await new Scene(written).put(group()).start();
    await scene.connect('c', machineNode(PROBE));
    await scene.health('c', false, 'refused');
    const status = scene.wishes().find(({ subresource }) => subresource === 'status');
    const connectedAt = { 'istio.io/connectedAt': '2023-11-14T22:13:20.000Z' };
    expect(plan(status, live(scene, { ...OWN, ...connectedAt }))).toMatchObject({
      kind: 'merge',
      patch: {
        status: {
          conditions: [
            { type: 'Healthy', status: 'False', message: 'refused', lastTransitionTime: '2026-01-01T00:00:00Z' },
          ],
        },
      },
    });
    expect(plan(status, live(scene, { ...OWN, 'istio.io/workloadController': 'two' })).kind).toBe('none');
  });

  it('is noted as gone, and removed after the grace period, unless it came back elsewhere', async () => {
    const scene = await new Scene(written).put(group()).start();
    await scene.connect('c', machineNode());
    const connected = { ...OWN, 'istio.io/connectedAt': '2023-11-14T22:13:20.000Z' };
    const there = live(scene, connected);
    await scene.disconnect('c');
    expect(plan(scene.wishes()[0], there)).toMatchObject({
      kind: 'merge',
      patch: {
        metadata: { annotations: { 'istio.io/connectedAt': null, 'istio.io/disconnectedAt': expect.any(String) } },
      },
    });
    expect(plan(scene.wishes()[0], undefined).kind).toBe('none');
    const gone = live(scene, { ...OWN, 'istio.io/disconnectedAt': '2023-11-14T22:13:20.000Z' });
    await scene.pass(GRACE_MS);
    expect(plan(scene.wishes()[0], gone)).toEqual({ kind: 'delete', uid: 'entry-uid', resourceVersion: '7' });
    const back = { ...OWN, 'istio.io/workloadController': 'two', 'istio.io/connectedAt': '2023-11-14T22:13:25Z' };
    expect(
      plan(scene.wishes()[0], { ...gone, metadata: { ...(gone.metadata as JsonObject), annotations: back } }).kind,
    ).toBe('none');
    scene.remove('WorkloadEntry', NAME);
    await scene.pass(0);
    expect(scene.wishes()).toEqual([]);
  });

  it('is removed by a sweep when another process left it behind', async () => {
    const scene = await new Scene(written).put(group()).start();
    const left = live(scene, {
      ...OWN,
      'istio.io/workloadController': 'two',
      'istio.io/disconnectedAt': '2023-11-14T22:13:20Z',
    });
    await scene.pass(10 * GRACE_MS);
    expect(plan(scene.wishes()[0], left).kind).toBe('delete');
  });

  it('is not swept while it may be connected elsewhere', async () => {
    const scene = await new Scene(written).put(group()).start();
    live(scene, { ...OWN, 'istio.io/workloadController': 'two', 'istio.io/connectedAt': '2023-11-14T22:13:20Z' });
    await scene.pass(45 * 60_000);
    expect(scene.wishes()).toEqual([]);
    await scene.pass(10 * GRACE_MS);
    expect(scene.wishes()).toHaveLength(1);
  });

  it.each(['true', 'false'])('that did not register loses its condition only, with checks %s', async value => {
    const scene = await new Scene(written).start();
    const checked = { 'proxy.istio.io/health-checks-enabled': value };
    live(scene, checked);
    await scene.connect('c', machineNode({ AUTO_REGISTER_GROUP: '', WORKLOAD_ENTRY: NAME }));
    await scene.health('c', true);
    expect(scene.wishes().map(({ subresource, precondition }) => [subresource, precondition?.exists])).toEqual([
      ['status', undefined],
      ['', true],
    ]);
    await scene.disconnect('c');
    const now = live(scene, { ...checked, 'istio.io/workloadController': 'one' }, healthy('True'));
    await scene.pass(GRACE_MS);
    const [wish, ...more] = scene.wishes();
    expect(more).toEqual([]);
    expect(plan(wish, now)).toMatchObject({ kind: 'merge', patch: { status: { conditions: null } } });
    live(scene, { ...checked, 'istio.io/workloadController': 'one' });
    await scene.pass(0);
    expect(scene.wishes()).toEqual([]);
  });
});
