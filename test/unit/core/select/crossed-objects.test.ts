// Thousands of objects of one kind beside thousands of another: what is compared follows their number, not the product.

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Labels } from '../../../../src/core/base/labels.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { isClusterLocal } from '../../../../src/core/registry/cluster-local.ts';
import { endpointShards } from '../../../../src/core/registry/endpoints.ts';
import { BoundVirtualServices } from '../../../../src/core/select/gateway/bound-virtual-services.ts';
import { outboundListenerPlans } from '../../../../src/core/select/listener/outbound-listeners.ts';
import { sidecarVirtualHosts } from '../../../../src/core/select/route/sidecar-virtual-hosts.ts';
import { danglingReferences } from '../../../../src/core/select/scope/references.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../../../../src/core/select/scope/virtual-services.ts';
import type { State } from '../../../../src/core/state.ts';
import { nodeOf, proxyOf, put, world } from '../../world.ts';
import {
  destinationRule,
  pod,
  service,
  serviceEntry,
  to,
  virtualService,
  workloadEntry,
} from '../registry/fixtures.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const address = (i: number): string => `10.9.${i >> 8}.${i & 255}`;

/** What twice as many cost, beside the first. */
const growth = (costOf: (count: number) => number): number => costOf(200) / costOf(100);
const LINEAR = 2.5;

describe('twice as many cost a ratio of two, not of four:', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** Comparisons of the ends of hosts. */
  function endsCompared(run: () => void): number {
    const compared = vi.spyOn(String.prototype, 'endsWith');
    run();
    const { length } = compared.mock.calls;
    compared.mockRestore();
    return length + 1;
  }

  it('VirtualServices with wildcards beside the services of a sidecar', () => {
    const client = proxyOf(nodeOf());
    const costOf = (count: number): number => {
      const wildcard = (i: number) => virtualService(`v${i}`, { hosts: [`*.h${i}.cluster.local`], http: [to('s0')] });
      const services = numbers(count).map(i => service(`s${i}`));
      const state = world([...services, ...numbers(count).map(wildcard)]);
      const tracker = new Tracker();
      return endsCompared(() => void tracker.get(state, client, sidecarVirtualHosts, '80'));
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });

  it('VirtualServices with TCP rules beside the services of a sidecar', () => {
    const client = proxyOf(nodeOf());
    const costOf = (count: number): number => {
      const tcp = [{ route: [{ destination: { host: 's0' } }] }];
      const wildcard = (i: number) => virtualService(`v${i}`, { hosts: [`*.h${i}.cluster.local`], tcp });
      const ofTcp = (i: number) => service(`s${i}`, { clusterIP: address(i), ports: [{ name: 'tcp', port: 5000 }] });
      const state = world([...numbers(count).map(ofTcp), ...numbers(count).map(wildcard)]);
      const tracker = new Tracker();
      return endsCompared(() => void tracker.get(state, client, outboundListenerPlans, ''));
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });

  it('references to subsets beside DestinationRules', () => {
    const costOf = (count: number): number => {
      const rule = (i: number) => destinationRule(`r${i}`, 's', { subsets: [{ name: `v${i}` }] });
      const route = (i: number) => ({ destination: { host: 's', subset: `v${i}` } });
      const http = numbers(count).map(i => ({ match: [{ uri: { prefix: `/${i}` } }], route: [route(i)] }));
      const state = world([service('s'), virtualService('v', { hosts: ['s'], http }), ...numbers(count).map(rule)]);
      const searched = vi.spyOn(String.prototype, 'includes');
      expect(new Tracker().get(state, undefined, danglingReferences, '')).toEqual([]);
      const { length } = searched.mock.calls;
      searched.mockRestore();
      return length;
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });

  it('hosts of settings beside hosts of services', () => {
    const costOf = (count: number): number => {
      const hosts = numbers(count).map(i => `*.h${i}.local`);
      const state = world([], { mesh: { serviceSettings: [{ settings: { clusterLocal: true }, hosts }] } });
      const tracker = new Tracker();
      return endsCompared(() => {
        for (const i of numbers(count)) tracker.get(state, undefined, isClusterLocal, `s${i}.default.svc`);
      });
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });

  it('TCP servers of a Gateway beside VirtualServices with their host', () => {
    const costOf = (count: number): number => {
      let rules = 0;
      const tcp = (i: number): object => ({ match: [{ port: i + 1 }], route: [{ destination: { host: `d${i}` } }] });
      const bound = numbers(count).map(i => ({
        hosts: ['a.com'],
        obj: { annotations: {} },
        get spec() {
          rules++;
          return { tcp: [tcp(i)] };
        },
      }));
      const index = new BoundVirtualServices('a/gw', bound as unknown as readonly ResolvedVirtualService[]);
      for (const i of numbers(count)) {
        expect(index.firstRule(['a.com'], i + 1, false)?.route[0]?.destination?.host).toBe(`d${i}`);
      }
      return rules;
    };
    expect(costOf(100)).toBe(100);
  });

  it('VirtualServices of a server that are asked for again by work that was interrupted', () => {
    const bound = numbers(300).map(i => ({ namespace: 'a', hosts: [`h${i}.com`] }));
    const index = new BoundVirtualServices('a/gw', bound as unknown as readonly ResolvedVirtualService[]);
    const hosts = ['*'];
    const first = index.meeting(hosts);
    expect(first).toEqual(bound);
    expect(index.meeting(hosts)).toBe(first);
    expect(index.meeting(hosts, new Set(first))).toEqual([]);
  });

  it('machines beside services of which none selects them', () => {
    const costOf = (count: number): number => {
      const selector = (i: number): Labels => ({ app: 'vm', [`k${i}`]: 'x' });
      const services = numbers(count).map(i => service(`s${i}`, { selector: selector(i) }));
      const machine = (i: number) => workloadEntry(`m${i}`, { address: address(i), labels: { app: 'vm' } });
      const state = world([...services, ...numbers(count).map(machine)]);
      const tracker = new Tracker();
      for (const i of numbers(count)) {
        tracker.get(state, undefined, endpointShards, {
          hostname: `s${i}.default.svc.cluster.local`,
          namespace: 'default',
        });
      }
      const { runs, hits, generated } = tracker.stats;
      return runs + hits + generated;
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });

  it('pods beside ServiceEntries that select others', () => {
    const costOf = (count: number): number => {
      const selects = (i: number) =>
        serviceEntry(`e${i}`, { hosts: [`h${i}.com`], resolution: 'STATIC', ...chosen(i) });
      const chosen = (i: number): JsonObject => ({ workloadSelector: { labels: { app: `a${i}` } } });
      const pods = numbers(count).map(i => pod(`p${i}`, address(i), { labels: { app: 'none' } }));
      const state = world([...numbers(count).map(selects), ...pods]);
      const tracker = new Tracker();
      let sorted = 0;
      const sort = vi.spyOn(Array.prototype, 'sort').mockImplementation(function (this: unknown[]) {
        sorted += this.length;
        return this;
      });
      for (const i of numbers(count)) {
        tracker.get(state, undefined, endpointShards, { hostname: `h${i}.com`, namespace: 'default' });
      }
      sort.mockRestore();
      return sorted;
    };
    expect(growth(costOf)).toBeLessThan(LINEAR);
  });
});

describe('a root with thousands of delegates', () => {
  const delegate = (i: number, host: string) => virtualService(`d${i}`, { hosts: undefined, http: [to(host)] });
  const rules = numbers(50).map(i => ({ match: [{ uri: { prefix: `/${i}` } }], delegate: { name: `d${i}` } }));
  const state = world([
    virtualService('root', { hosts: ['a.com'], http: rules }),
    ...numbers(50).map(i => delegate(i, 'a')),
  ]);
  const routesAt = (tracker: Tracker, at: State) =>
    tracker.get(at, proxyOf(nodeOf()), virtualServicesFor, { namespace: 'default', gateway: 'mesh' })[0]?.spec.http;

  it('keeps the merged rules of the others when one changes', () => {
    const tracker = new Tracker();
    const before = routesAt(tracker, state) ?? [];
    const after = routesAt(tracker, put(state, delegate(7, 'b')).state) ?? [];
    expect(after.map((rule, i) => rule === before[i])).toEqual(numbers(50).map(i => i !== 7));
  });
});
