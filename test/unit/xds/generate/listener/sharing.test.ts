// What is made anew when something changes, and what is one object for many proxies: encoding and pushing go by
// identity.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import type { Listener } from '../../../../../src/xds/proto/types.gen.ts';
import { istio } from '../route/scene.ts';
import { clientScene, httpService, type ListenerScene, podNode, service } from './scene.ts';

const SERVICES = 20;

function tcpService(index: number): JsonObject {
  const spec = {
    clusterIP: `10.96.1.${index + 1}`,
    ports: [{ name: 'tcp', port: 9000 }],
    selector: { app: `t${index}` },
  };
  return service(`t${index}`, 'prod', spec);
}

function mesh(): ListenerScene {
  const objects: JsonObject[] = [];
  for (let i = 0; i < SERVICES; i++)
    objects.push(tcpService(i), httpService(`h${i}`, 'prod', 8000 + i, `10.96.2.${i + 1}`));
  return clientScene(objects);
}

function changed(before: readonly Resource<Listener>[], after: readonly Resource<Listener>[]): readonly string[] {
  const known = new Set(before);
  return after.filter(listener => !known.has(listener)).map(listener => listener.name);
}

describe('sharing of listeners', () => {
  it('rebuilds only the listener that a new rule applies to', () => {
    const scene = mesh();
    const before = scene.listeners('client');
    const tcp = [{ route: [{ destination: { host: 't3', subset: 'v1' } }] }];
    scene.put(istio('VirtualService', 'prod', 'vs', { hosts: ['t3'], tcp }));
    expect(changed(before, scene.listeners('client'))).toEqual(['10.96.1.4_9000']);
  });

  it('rebuilds nothing for HTTP rules, further hosts on a port, or objects of other namespaces', () => {
    const scene = mesh();
    const before = scene.listeners('client');
    scene.put(
      istio('VirtualService', 'prod', 'vs', { hosts: ['h1'], http: [{ route: [{ destination: { host: 'h2' } }] }] }),
    );
    scene.put(httpService('more', 'prod', 8001, '10.96.3.1'));
    scene.put(
      istio('Gateway', 'prod', 'g', {
        selector: { a: 'b' },
        servers: [{ port: { number: 80, name: 'h', protocol: 'HTTP' }, hosts: ['*'] }],
      }),
    );
    expect(changed(before, scene.listeners('client'))).toEqual([]);
  });

  it('keeps the chain of one workload port when another changes', () => {
    const scene = mesh();
    scene.put(
      istio('Sidecar', 'prod', 's', {
        workloadSelector: { labels: { app: 'client' } },
        ingress: [port(7000), port(7001)],
      }),
    );
    const before = scene.chains('client', 'virtualInbound');
    scene.put(
      istio('Sidecar', 'prod', 's', {
        workloadSelector: { labels: { app: 'client' } },
        ingress: [port(7000), port(7002)],
      }),
    );
    const kept = new Set(before);
    const fresh = scene.chains('client', 'virtualInbound').filter(chain => !kept.has(chain));
    expect(new Set(fresh.map(chain => chain.filterChainMatch?.destinationPort?.value))).toEqual(new Set([7002]));
  });

  it('gives proxies that differ only in their addresses the same objects', () => {
    const scene = mesh();
    scene.connect('twin', podNode('twin', 'prod', '10.1.0.2', { LABELS: { app: 'client' } }));
    const mine = scene.listeners('client');
    const runs = scene.tracker.stats.runs;
    expect(scene.listeners('twin')).toBe(mine);
    // Only what is asked about every proxy: its derived facets.
    expect(scene.tracker.stats.runs - runs).toBeLessThan(20);
  });
});

function port(number: number): JsonObject {
  return {
    port: { number, protocol: 'HTTP', name: `http-${number}` },
    bind: '0.0.0.0',
    defaultEndpoint: `127.0.0.1:${number}`,
  };
}
