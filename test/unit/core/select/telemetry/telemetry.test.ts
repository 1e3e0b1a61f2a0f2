// Which Telemetry objects apply to a proxy, and to what an object behind a waypoint adds; which side an entry is for.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Reader } from '../../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { ignoresHostHeader } from '../../../../../src/core/select/telemetry/metrics.ts';
import { definedProviders, modeMatches, telemetryLevels } from '../../../../../src/core/select/telemetry/telemetry.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

/** Its name is also the literal value of its only tag. */
const telemetry = (name: string, namespace: string, spec: JsonObject = {}, day = 1): JsonObject => ({
  apiVersion: 'telemetry.istio.io/v1',
  kind: 'Telemetry',
  metadata: { name, namespace, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec: { ...spec, tracing: [{ customTags: { name: { literal: { value: name } } } }] },
});
const WAY = { 'gateway.networking.k8s.io/gateway-name': 'way' };
const node = (namespace: string) => nodeOf({ namespace, labels: { app: 'web' } });
const sidecar = (namespace = 'prod') => proxyOf(node(namespace));
const waypoint = proxyOf({
  ...nodeOf({ namespace: 'infra', labels: WAY }),
  id: 'waypoint~10.0.0.9~way.infra~infra.svc.cluster.local',
});

const levels = (objects: readonly JsonObject[], of = sidecar(), subject = ''): readonly unknown[] =>
  ask(world(objects), telemetryLevels, subject, of).map(spec => spec.tracing?.[0]?.customTags?.name?.literal?.value);

const selecting = (app: string): JsonObject => ({ selector: { matchLabels: { app } } });
const targeting = (kind: string, name: string, group = ''): JsonObject => ({ targetRefs: [{ group, kind, name }] });

describe('the Telemetry objects of a proxy', () => {
  it('are the oldest for the root namespace, the oldest for its own, and all that select it, by age', () => {
    const objects = [
      telemetry('young-root', 'istio-system', {}, 2),
      telemetry('root', 'istio-system', {}, 1),
      telemetry('young', 'prod', {}, 3),
      telemetry('space', 'prod', {}, 2),
      telemetry('a-late', 'prod', selecting('web'), 5),
      telemetry('early', 'prod', selecting('web'), 1),
      telemetry('other', 'prod', selecting('api'), 1),
      telemetry('far', 'test', {}, 1),
    ];
    expect(levels(objects)).toEqual(['root', 'space', 'early', 'a-late']);
  });

  it('are none if the root namespace has only some for workloads of its own', () => {
    expect(levels([])).toEqual([]);
    expect(levels([telemetry('web', 'istio-system', selecting('web'))])).toEqual([]);
    expect(
      levels([telemetry('gateway', 'istio-system', targeting('Gateway', 'way', 'gateway.networking.k8s.io'))]),
    ).toEqual([]);
  });

  it('do not count twice in the root namespace', () => {
    const objects = [telemetry('root', 'istio-system'), telemetry('web', 'istio-system', selecting('web'))];
    expect(levels(objects, sidecar('istio-system'))).toEqual(['root', 'web']);
  });

  it('are found for the whole namespace by an empty selector, too', () => {
    const empty = { selector: { matchLabels: {} } };
    expect(levels([telemetry('a', 'prod', empty, 1), telemetry('b', 'prod', {}, 2)])).toEqual(['a']);
  });
});

describe('the Telemetry objects of traffic through a waypoint', () => {
  const objects = [
    telemetry('root', 'istio-system'),
    telemetry('infra', 'infra', {}, 1),
    telemetry('young-infra', 'infra', {}, 2),
    telemetry('gateway', 'infra', targeting('Gateway', 'way', 'gateway.networking.k8s.io')),
    telemetry('shop', 'shop', {}, 1),
    telemetry('young-shop', 'shop', {}, 2),
    telemetry('web', 'shop', targeting('Service', 'web')),
    telemetry('api', 'shop', targeting('Service', 'api')),
  ];

  it('are those of the waypoint without a service', () => {
    expect(levels(objects, waypoint)).toEqual(['root', 'infra', 'gateway']);
  });

  it('add those for the namespace of a service, which alone can refer to the service', () => {
    expect(levels(objects, waypoint, 'Service shop/web')).toEqual(['root', 'infra', 'shop', 'web']);
    expect(levels(objects, waypoint, 'Service shop/api')).toEqual(['root', 'infra', 'shop', 'api']);
  });

  it('count once for a service of the namespace of the waypoint', () => {
    expect(levels(objects, waypoint, 'Service infra/web')).toEqual(['root', 'infra', 'gateway']);
  });
});

describe('an entry of a Telemetry', () => {
  it.each([
    [undefined, true, true, true, true],
    ['CLIENT_AND_SERVER', true, true, true, true],
    ['CLIENT', false, true, true, false],
    ['SERVER', true, false, false, true],
  ])('of the mode %s is for inbound: %s, outbound: %s, gateway: %s, waypoint: %s', (mode, ...expected) => {
    const classes = ['inbound', 'outbound', 'gateway', 'waypoint Service shop/web'] as const;
    expect(classes.map(traffic => modeMatches(mode, traffic))).toEqual(expected);
  });
});

it('only an outbound proxy takes the destination of metrics from the host header', () => {
  const classes = ['inbound', 'outbound', 'gateway', 'waypoint '] as const;
  expect(classes.map(ignoresHostHeader)).toEqual([true, false, true, true]);
});

describe('Telemetry objects of one namespace that are many', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => telemetry(`t${1_000 + i}`, 'prod', selecting(i % 2 ? 'web' : 'other')));

  it('are asked in blocks whether they are attached', () => {
    const found = (count: number) => {
      const tracker = new Tracker();
      const all = tracker.get(world(many(count)), sidecar(), telemetryLevels, '');
      return { names: all.map(spec => spec.tracing?.[0]?.customTags?.name?.literal?.value), runs: tracker.stats.runs };
    };
    const [few, more] = [found(512), found(1_024)];
    expect(more.names.slice(0, few.names.length)).toEqual(few.names);
    expect(more.names).toHaveLength(512);
    expect(more.runs - few.runs).toBe(1_024 / 128);
  });
});

describe('a long list of providers', () => {
  it('is looked through once for those that MeshConfig defines', () => {
    const providers = [{ name: 'log', envoyFileAccessLog: {} }];
    const reader = { mesh: () => providers } as unknown as Reader;
    const names = ['none', 'LOG', ...Array.from({ length: 300 }, (_, i) => `x${i}`)];
    const found = definedProviders(reader, names);
    expect(found).toEqual(['LOG']);
    expect(definedProviders(reader, names)).toBe(found);
    expect(definedProviders(reader, ['none'])).toEqual(['none']);
    expect(definedProviders({ mesh: () => [] } as unknown as Reader, names)).toEqual([]);
  });
});
