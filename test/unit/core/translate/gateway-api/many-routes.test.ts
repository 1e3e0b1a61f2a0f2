// More routes of the Gateway API than are gone through in one run.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { SliceGrowth } from '../../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { MEMBERS_PER_WORK_UNIT } from '../../../../../src/core/query/work-budget.ts';
import { passthroughRoutes } from '../../../../../src/core/select/gateway/gateway-tcp-routes.ts';
import { mergedGateway } from '../../../../../src/core/select/gateway/gateways.ts';
import { egressListener, egressServices } from '../../../../../src/core/select/scope/egress-listener.ts';
import { virtualServices, virtualServicesFor } from '../../../../../src/core/select/scope/virtual-services.ts';
import type { State } from '../../../../../src/core/state.ts';
import { derivedVirtualServices } from '../../../../../src/core/translate/gateway-api/merged-routes.ts';
import { translatedRoute } from '../../../../../src/core/translate/gateway-api/routes.ts';
import { nodeOf, proxyOf, world } from '../../../world.ts';

const COUNT = 1_024;
const NAMES = Array.from({ length: COUNT }, (_, i) => `r${String(i).padStart(4, '0')}`);
const serviceOf = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'a' },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'http', port: 80 }] },
});
const service = serviceOf('s');
const httpRoute = (name: string, parent = 's'): JsonObject => ({
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name, namespace: 'a' },
  spec: {
    parentRefs: [{ group: '', kind: 'Service', name: parent }],
    rules: [
      {
        matches: [{ path: { type: 'PathPrefix', value: `/${name}${'x'.repeat(Number(name.slice(1)) % 5)}` } }],
        backendRefs: [{ name: 's', port: 80 }],
      },
    ],
  },
});
const passthrough = (name: string): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace: 'a' },
  spec: {
    hosts: [`${name}.example.com`],
    gateways: ['gw'],
    tls: [
      { match: [{ sniHosts: [`${name}.example.com`] }], route: [{ destination: { host: `${name}.example.com` } }] },
    ],
  },
});
const gateway: JsonObject = {
  apiVersion: 'networking.istio.io/v1',
  kind: 'Gateway',
  metadata: { name: 'gw', namespace: 'a' },
  spec: {
    selector: { app: 'gw' },
    servers: [{ port: { number: 443, name: 'tls', protocol: 'TLS' }, tls: { mode: 'PASSTHROUGH' }, hosts: ['*'] }],
  },
};

/** The value, and what its slices found again of those before. */
function sliced<T extends object>(state: State, proxy: ProxyRecord, query: Query<'', T>, tracker = new Tracker()) {
  const growth = new SliceGrowth();
  let found = 0;
  for (;;) {
    const slice = tracker.within(growth.budget(80), () => tracker.get(state, proxy, query, ''));
    found += slice.found;
    if (slice.value !== undefined) return { value: slice.value, found };
    growth.cut(slice);
  }
}

describe('thousands of routes', () => {
  it('are merged with the longest paths first, equal ones in the order of their names', () => {
    const { value, found } = sliced(
      world([service, ...NAMES.map(name => httpRoute(name))]),
      proxyOf(nodeOf({})),
      derivedVirtualServices,
    );
    const paths = value[0]?.spec.http?.map(rule => rule.match?.[0]?.uri?.prefix ?? '') ?? [];
    const expected = NAMES.map(name => `/${name}${'x'.repeat(Number(name.slice(1)) % 5)}`);
    expect(value).toHaveLength(1);
    expect(paths).toEqual(expected.toSorted((a, b) => b.length - a.length));
    expect(found).toBeLessThan(300);
  });

  describe('with a host each', () => {
    const state = world([...NAMES.map(serviceOf), ...NAMES.map(name => httpRoute(name, name))]);
    const proxy = proxyOf(nodeOf({ namespace: 'a' }));

    it('are merged in blocks', () => {
      const tracker = new Tracker();
      const merged = tracker.get(state, proxy, derivedVirtualServices, '');
      expect(merged.flatMap(({ spec }) => spec.hosts ?? [])).toEqual(NAMES.map(name => `${name}.a.svc.cluster.local`));
      // Each route is translated by a generator.
      expect(tracker.stats.generated).toBe(COUNT + COUNT / 128);
    });

    it('apply in the order of their names, found again in blocks', () => {
      const tracker = new Tracker();
      tracker.get(state, proxy, derivedVirtualServices, '');
      const { value, found } = sliced(state, proxy, virtualServices, tracker);
      expect(value.map(({ hosts }) => hosts[0])).toEqual(NAMES.map(name => `${name}.a.svc.cluster.local`));
      expect(found).toBeLessThan(50);
    });

    it('are charged where a listener imports them', () => {
      const tracker = new Tracker();
      tracker.get(state, proxy, virtualServicesFor, { namespace: 'a', gateway: 'mesh' });
      const listener = { namespace: 'a', sidecar: '', index: 0 };
      tracker.get(state, proxy, egressServices, listener);
      const { value, left } = tracker.within(100, () => tracker.get(state, proxy, egressListener, listener));
      expect(value?.virtualServices).toHaveLength(COUNT);
      expect(left).toBeLessThan(100 - COUNT / MEMBERS_PER_WORK_UNIT);
    });
  });

  it('of connections are at a gateway in their order, found again in blocks', () => {
    const state = world([gateway, ...NAMES.map(passthrough)]);
    const router = proxyOf(nodeOf({ type: 'router', namespace: 'a', labels: { app: 'gw' } }));
    const query: Query<'', readonly (readonly string[])[]> = {
      name: 'test/passthrough',
      run: reader => {
        const { groups } = reader.get(mergedGateway, '');
        return reader
          .select(passthroughRoutes, { groups })
          .flat(2)
          .map(({ serverNames }) => serverNames);
      },
    };
    const { value, found } = sliced(state, router, query);
    expect(value.flat()).toEqual(NAMES.map(name => `${name}.example.com`));
    expect(found).toBeLessThan(500);
  });
});

describe('a route with many listeners to look at', () => {
  const gatewayOf = (count: number): JsonObject => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'a' },
    spec: {
      gatewayClassName: 'istio',
      listeners: Array.from({ length: count }, (_, i) => ({
        name: `l${i}`,
        port: 80,
        protocol: 'HTTP',
        hostname: `h${i}.example.com`,
      })),
    },
  });
  const routeTo = (parent: JsonObject, hostname: string): JsonObject => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace: 'a' },
    spec: {
      parentRefs: [{ name: 'gw', ...parent }],
      hostnames: [hostname],
      rules: [{ backendRefs: [{ name: 's', port: 80 }] }],
    },
  });
  const translated = (parent: JsonObject, hostname: string, count = 64) => {
    const tracker = new Tracker();
    const state = world([gatewayOf(count), routeTo(parent, hostname)]);
    const { candidates } = tracker.get(state, undefined, translatedRoute, { kind: 'HTTPRoute', key: 'a/r' })!;
    const reasons = [...new Set(candidates.map(({ denied }) => denied?.reason))];
    return { sections: candidates.map(({ section }) => section), reasons, runs: tracker.stats.runs };
  };

  it('has those that its reference means and, if there are none, all that refuse it', () => {
    expect(translated({ sectionName: 'l3' }, 'h3.example.com')).toMatchObject({
      sections: ['l3'],
      reasons: [undefined],
    });
    expect(translated({ sectionName: 'l3' }, 'h4.example.com')).toMatchObject({
      sections: ['l3'],
      reasons: ['NoMatchingListenerHostname'],
    });
    const absent = translated({ sectionName: 'l99' }, 'h4.example.com');
    expect(absent.sections).toHaveLength(64);
    expect(absent.reasons).toEqual(['NoMatchingParent']);
    expect(translated({}, 'h4.example.com')).toMatchObject({ sections: ['l4'], reasons: [undefined] });
  });

  it('is refused with the reasons found in a run of its own for each reference', () => {
    const refused = (count: number): number => translated({}, 'x.example.com', count).runs;
    const taken = (count: number): number => translated({}, 'h1.example.com', count).runs;
    expect(refused(16) - taken(16)).toBe(0);
    expect(refused(64) - taken(64)).toBe(1);
    expect(translated({}, 'x.example.com').reasons).toEqual(['NoMatchingListenerHostname']);
  });
});
