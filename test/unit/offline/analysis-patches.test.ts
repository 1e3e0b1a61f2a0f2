// EnvoyFilters in files are judged on the proxies that the workloads of the same files will have.

import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { analyzers } from '../../../src/analysis/registry.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { type AnalysisResult, analyzeFiles } from '../../../src/offline/analysis.ts';
import { objectsOfText } from '../../../src/offline/analysis-input.ts';
import { foldFacts, objectFacts } from '../../../src/offline/generate.ts';
import { entry, envoyFilter, HCM, httpFilter, luaFilter } from '../xds/generate/patch/patch-scene.ts';

const router = 'envoy.filters.http.router';
const service: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'cart', namespace: 'prod' },
  spec: { clusterIP: '10.96.0.1', selector: { app: 'cart' }, ports: [{ name: 'http', port: 8080 }] },
};
const containers = [{ name: 'app', image: 'cart', ports: [{ containerPort: 8080 }] }];
const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'cart', namespace: 'prod' },
  spec: { template: { metadata: { labels: { app: 'cart' } }, spec: { containers } } },
};
const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'cart', namespace: 'prod', labels: { app: 'cart' } },
  spec: { containers },
};

function analyzed(...objects: readonly JsonObject[]): AnalysisResult {
  const text = objects.map(object => stringify(object)).join('---\n');
  const { state } = foldFacts(objectFacts('file/c', 'mesh.yaml', Buffer.from(text)));
  return analyzeFiles(state, objectsOfText('c', 'mesh.yaml', text), { analyzers, now: 0 });
}

const told = ({ messages }: AnalysisResult): readonly string[] =>
  messages.filter(({ code }) => /^PER0(009|010|011)$/.test(code)).map(({ code, text }) => `${code} ${text}`);

const nowhere = entry('CLUSTER', 'MERGE', { connect_timeout: '1s' }, { cluster: { service: 'nowhere' } });
const inbound = entry('HTTP_FILTER', 'INSERT_BEFORE', luaFilter('l'), httpFilter(router, 'SIDECAR_INBOUND'));

describe('an EnvoyFilter in files', () => {
  it.each([
    ['a Deployment', deployment],
    ['a Pod without an address', pod],
  ])('is tried on the proxy of %s', (_, workload) => {
    const unmerged = entry('HTTP_FILTER', 'MERGE', luaFilter(router), httpFilter(router));
    const behind = entry('HTTP_FILTER', 'ADD', luaFilter('l'), { context: 'SIDECAR_OUTBOUND' });
    const result = analyzed(service, workload, envoyFilter('one', [nowhere, inbound, unmerged, behind]));
    const [idle, leftOut, ...refused] = told(result);
    expect(idle).toBe('PER0009 spec.configPatches[0]: matches nothing that a proxy of these workloads holds');
    expect(leftOut).toContain('PER0010 spec.configPatches[2]: is left out: listener 0.0.0.0_8080');
    expect(refused.join('\n')).toContain('has HTTP filters behind the router: Envoy refuses it on cart.prod');
    expect(result.patches).toEqual({ proxies: 1, unseen: [], verdicts: expect.anything() });
  });

  it('is reported as not tried when no proxy has its entries', () => {
    const forOthers = envoyFilter('two', [nowhere, inbound], { more: { workloadSelector: { labels: { app: 'x' } } } });
    const old = { ...inbound, match: { ...(inbound.match as JsonObject), proxy: { proxyVersion: '^0\\.9' } } };
    const result = analyzed(service, deployment, forOthers, envoyFilter('three', [nowhere, old]));
    expect(result.patches?.unseen).toEqual([
      { key: 'prod/three', entries: 1, of: 2 },
      { key: 'prod/two', entries: 2, of: 2 },
    ]);
    const withoutWorkload = analyzed(service, envoyFilter('one', [nowhere]));
    expect(told(withoutWorkload)).toEqual([]);
    expect(withoutWorkload.patches).toMatchObject({ proxies: 0, unseen: [{ key: 'prod/one', entries: 1, of: 1 }] });
  });

  it('changes no other message: a proxy that is only supposed is no workload of a selector', () => {
    const network = entry('NETWORK_FILTER', 'REMOVE', undefined, {
      listener: { filterChain: { filter: { name: HCM } } },
    });
    const without = analyzed(service, pod).messages;
    const others = analyzed(service, pod, envoyFilter('one', [network])).messages.filter(
      ({ item }) => item?.kind !== 'EnvoyFilter',
    );
    expect(others.map(({ code, text }) => [code, text])).toEqual(without.map(({ code, text }) => [code, text]));
  });
});
