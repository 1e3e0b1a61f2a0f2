import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import { joinedStatus, type StatusRule } from '../../../../src/core/wishes/status.ts';
import { wishTable } from '../../../../src/core/wishes/table.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { Scene } from '../../xds/generate/route/scene.ts';
import { gateway, listener, open, route, rule, services } from '../translate/gateway-api/scene.ts';

const NOW = '2026-01-02T03:04:05Z';
const LATER = '2027-01-02T03:04:05Z';

function statusWishes(scene: Scene, kind: string): readonly Wish[] {
  const { wishes } = scene.tracker.get(scene.state, undefined, wishTable, '');
  return wishes.filter(wish => wish.kind === kind && wish.subresource === 'status');
}

function statusIn(scene: Scene, kind: string, name: string): JsonObject {
  const wish = statusWishes(scene, kind).find(one => one.name === name);
  if (wish === undefined) throw new Error(`no status of ${kind} ${name}`);
  return (wish.fields as { readonly status: JsonObject }).status;
}

function conditionsOf(entry: unknown): Readonly<Record<string, string>> {
  const { conditions } = entry as { readonly conditions: readonly JsonObject[] };
  return Object.fromEntries(conditions.map(({ type, reason, message }) => [type, `${reason}: ${message}`]));
}

function parents(scene: Scene, name: string): readonly unknown[] {
  return statusIn(scene, 'HTTPRoute', name).parents as readonly unknown[];
}

function scene(...objects: readonly JsonObject[]): Scene {
  return new Scene([...services, gateway('gw', [listener('http', open)]), ...objects]);
}

describe('the status of an HTTPRoute', () => {
  it('says that it is attached and that its references resolve', () => {
    const [entry] = parents(scene(route('a', { rules: [rule('web')] })), 'a');
    expect(conditionsOf(entry)).toEqual({
      Accepted: 'Accepted: Route was valid',
      ResolvedRefs: 'ResolvedRefs: All references resolved',
    });
  });

  it('says in ambient mode which parent of the mesh has no waypoint, and of a Gateway that nothing is missing', () => {
    const refs = [{ name: 'gw' }, { group: '', kind: 'Service', name: 'web' }];
    const made = new Scene(
      [
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'infra' } },
        ...services,
        gateway('gw', [listener('http', open)]),
        route('a', { parentRefs: refs, rules: [rule('web')] }),
      ],
      { env: { PILOT_ENABLE_AMBIENT: 'true' } },
    );
    expect(parents(made, 'a').map(entry => conditionsOf(entry).ResolvedWaypoints)).toEqual([
      'ResolvedWaypoints: All waypoints resolved',
      'ResolvedWaypoints: istio.io/use-waypoint label missing from parent and parent namespace; in ambient mode, route will not be respected',
    ]);
  });

  it('names the gravest reason among the listeners of a parent that refuse it', () => {
    const two = gateway('gw', [
      listener('named', { hostname: 'x.com' }),
      listener('closed', { hostname: 'y.com', port: 81 }),
    ]);
    const made = new Scene([
      ...services,
      two,
      route('far', { hostnames: ['y.com'], rules: [rule('web')] }, { namespace: 'far' }),
    ]);
    const [entry] = parents(made, 'far');
    expect(conditionsOf(entry).Accepted).toBe(
      'NotAllowedByListeners: hostnames matched parent hostname "y.com", but namespace "far" is not allowed by the parent',
    );
  });

  it('says which backend is missing', () => {
    const [entry] = parents(scene(route('a', { rules: [rule('none')] })), 'a');
    expect(conditionsOf(entry).ResolvedRefs).toBe('BackendNotFound: backend(none.infra.svc.cluster.local) not found');
  });

  it('has no entry for a Gateway of another controller', () => {
    const foreign = gateway('other', [listener('http')], { gatewayClassName: 'foreign' });
    const made = scene(foreign, route('a', { parentRefs: [{ name: 'other' }], rules: [rule('web')] }));
    expect(parents(made, 'a')).toEqual([]);
  });

  it('is written for the generation that it was made of only', () => {
    const made = scene(route('a', { rules: [rule('web')] }, { generation: 3 }));
    const [wish] = statusWishes(made, 'HTTPRoute');
    const live = { metadata: { generation: 4 }, status: {} };
    expect(planOf(wish!, live, 'gateway.networking.k8s.io/v1', 'HTTPRoute', NOW)).toEqual({
      kind: 'none',
      why: 'outdated',
    });
    expect(JSON.stringify(wish)).toContain('"observedGeneration":3');
  });
});

describe('the status of a Gateway', () => {
  it('counts the routes of each listener, those with missing backends too', () => {
    const made = scene(route('a', { rules: [rule('web')] }), route('b', { rules: [rule('none')] }));
    const [first] = statusIn(made, 'KubernetesGateway', 'gw').listeners as readonly JsonObject[];
    expect(first).toMatchObject({ name: 'http', attachedRoutes: 2 });
  });

  it('says that the service is missing', () => {
    const made = new Scene([gateway('gw', [listener('http')])]);
    expect(conditionsOf(statusIn(made, 'KubernetesGateway', 'gw')).Programmed).toBe(
      'AddressNotUsable: Failed to assign to any requested addresses: hostname "gw-istio.infra.svc.cluster.local" not found',
    );
  });

  it('is not written by a control plane of another revision', () => {
    const labelled = {
      ...gateway('gw', [listener('http')]),
      metadata: { name: 'gw', namespace: 'infra', labels: { 'istio.io/rev': 'canary' } },
    };
    expect(statusWishes(new Scene([labelled]), 'KubernetesGateway')).toEqual([]);
  });
});

describe('one changed HTTPRoute among many', () => {
  it('changes one virtual host and one status', () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      route(`r${i}`, { hostnames: [`h${i}.com`], rules: [rule('web')] }),
    );
    const made = scene(...many);
    const before = new Set(statusWishes(made, 'HTTPRoute'));
    made.put(route('r7', { hostnames: ['h7.com'], rules: [rule('none')] }));
    const changed = statusWishes(made, 'HTTPRoute').filter(wish => !before.has(wish));
    expect(changed.map(({ name }) => name)).toEqual(['r7']);
  });
});

describe('a status joined with the live one', () => {
  const rules: StatusRule = { of: 'entries', member: 'parents', controllers: ['ours'], namespace: 'infra' };
  const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'm', observedGeneration: 1 };
  const entry = (name: string, controllerName: string, conditions: readonly JsonObject[] = [accepted]): JsonObject => ({
    parentRef: { name },
    controllerName,
    conditions,
  });

  it('keeps entries of other controllers in their places and removes stale ones of ours', () => {
    const live = { parents: [entry('stale', 'ours'), entry('x', 'theirs'), entry('gw', 'ours')] };
    const { parents: joined } = joinedStatus(
      rules,
      { parents: [entry('gw', 'ours'), entry('new', 'ours')] },
      live,
      NOW,
    );
    const names = (joined as readonly JsonObject[]).map(({ parentRef }) => (parentRef as JsonObject).name);
    expect(names).toEqual(['x', 'gw', 'new']);
  });

  it('finds nothing to do a second time', () => {
    const live = { parents: [entry('x', 'theirs')] };
    const wished = { parents: [entry('gw', 'ours')] };
    const once = joinedStatus(rules, wished, live, NOW);
    expect(joinedStatus(rules, wished, once, LATER)).toEqual(once);
  });

  it('keeps the time of a condition whose message alone changes, and foreign conditions', () => {
    const known = [
      { ...accepted, message: 'old', lastTransitionTime: NOW },
      { type: 'Theirs', status: 'True' },
    ];
    const joined = joinedStatus({ of: 'conditions' }, { conditions: [accepted] }, { conditions: known }, LATER);
    expect(joined.conditions).toEqual([
      { ...accepted, lastTransitionTime: NOW },
      { type: 'Theirs', status: 'True' },
    ]);
  });

  it('leaves a condition alone if its reason alone would change', () => {
    const known = [{ ...accepted, reason: 'Old', lastTransitionTime: NOW }];
    const joined = joinedStatus({ of: 'conditions' }, { conditions: [accepted] }, { conditions: known }, LATER);
    expect(joined.conditions).toEqual(known);
  });

  it('of listeners that were not looked at keeps those that the spec still has, without routes', () => {
    const live = {
      listeners: [
        { name: 'a', attachedRoutes: 3 },
        { name: 'gone', attachedRoutes: 1 },
      ],
    };
    const rule: StatusRule = { of: 'kept', names: ['a', 'new'] };
    const once = joinedStatus(rule, { conditions: [accepted] }, live, NOW);
    expect(once.listeners).toEqual([{ name: 'a', attachedRoutes: 0 }]);
    expect(joinedStatus(rule, { conditions: [accepted] }, once, LATER)).toEqual(once);
    expect(joinedStatus(rule, { conditions: [accepted] }, {}, NOW)).not.toHaveProperty('listeners');
  });

  it('gives each listener the conditions of its position', () => {
    const rule: StatusRule = { of: 'listeners', prunes: true };
    const live = { listeners: [{ name: 'gone', conditions: [{ ...accepted, lastTransitionTime: NOW }] }] };
    const joined = joinedStatus(rule, { listeners: [{ name: 'a', conditions: [accepted] }] }, live, LATER);
    expect(joined.listeners).toEqual([{ name: 'a', conditions: [{ ...accepted, lastTransitionTime: NOW }] }]);
  });
});
