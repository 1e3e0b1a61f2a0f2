// Over arbitrary meshes: what the oracle predicts for Periplus's configuration is what the Istio API says of HTTP
// requests that leave a workload.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import type { Route } from '../../src/xds/proto/types.gen.ts';
import { expectHttp } from './mesh/http-model.ts';
import type { Question } from './mesh/http-route.ts';
import { fixedCasesOf, inquiryOf, setUp } from './mesh/inquiry.ts';
import { censusOf, isCaught, judgeBy } from './mesh/judge.ts';
import { configured } from './mesh/predicted.ts';
import { httpQuestion } from './mesh/questions.ts';
import { specOf, textsIn } from './mesh/read.ts';
import { visibleServices } from './mesh/services.ts';
import { parameters } from './seed.ts';

const inquiry = inquiryOf((world, client) => httpQuestion(visibleServices(world, client), client.namespace));
const fixedCases = fixedCasesOf(inquiry);

const judge = judgeBy<Question>({
  expected: expectHttp,
  connection: ({ destination, request }) => ({ arrives: 'outbound', destination, http: request }),
  kinds: wanted => wanted.map(kindOf),
});

function kindOf(line: string): string {
  const [, what = ''] = line.split(' ');
  if (/^30\d$/.test(what)) return 'redirect';
  if (/^\d+$/.test(what)) return what;
  return what === 'passthrough' || what === 'closed' ? what : what.includes('/v') ? 'subset' : 'service';
}

describe('HTTP requests that leave a workload', () => {
  it('reach the destination that the API defines', () => {
    fc.assert(
      fc.property(inquiry, given => {
        expect(judge(setUp(given)).different).toEqual([]);
      }),
      parameters(60),
    );
  });

  it('census: are mostly predicted by the model, and every kind of answer occurs', () => {
    const { asked, silent, different, kinds } = censusOf(fixedCases(), judge);
    expect(different).toEqual([]);
    expect(silent).toBeLessThan(asked / 2);
    for (const kind of ['service', 'subset', 'passthrough', '404', '503', 'redirect']) {
      expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(0);
    }
  });
});

/** Every list of routes of a virtual host, changed. */
function withRoutes(config: ProxyConfig, change: (routes: readonly Route[]) => readonly Route[]): ProxyConfig {
  const routes = config.routes.map(route => ({
    ...route,
    virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, routes: change(host.routes ?? []) })),
  }));
  return { ...config, routes };
}

describe('canary: a generator is caught with', () => {
  const forwarding = (change: (route: Route) => Route) => (config: ProxyConfig) =>
    withRoutes(config, routes => routes.map(route => (route.route === undefined ? route : change(route))));
  const mutations: Readonly<Record<string, (config: ProxyConfig) => ProxyConfig>> = {
    'routes in the wrong order': config => withRoutes(config, routes => [...routes].reverse()),
    'a header condition forgotten': config =>
      withRoutes(config, routes => routes.map(route => ({ ...route, match: { ...route.match, headers: [] } }))),
    'weights exchanged': forwarding(route => {
      const clusters = route.route?.weightedClusters?.clusters ?? [];
      if (clusters.length < 2) return route;
      const weights = clusters.map(({ weight }) => weight).reverse();
      const turned = clusters.map((cluster, i) => ({ ...cluster, weight: weights[i] }));
      return { ...route, route: { ...route.route, weightedClusters: { clusters: turned } } };
    }),
    'a timeout forgotten': forwarding(route => ({ ...route, route: { ...route.route, timeout: undefined } })),
    'a rewrite forgotten': forwarding(route => ({ ...route, route: { ...route.route, prefixRewrite: undefined } })),
    'a mirror forgotten': forwarding(route => ({ ...route, route: { ...route.route, requestMirrorPolicies: [] } })),
    'endpoints of all subsets in each': config => ({
      ...config,
      endpoints: config.endpoints.map(one => {
        const [direction, port, , host] = (one.clusterName ?? '').split('|');
        const whole = config.endpoints.find(({ clusterName }) => clusterName === `${direction}|${port}||${host}`);
        return { ...one, endpoints: whole?.endpoints ?? one.endpoints };
      }),
    }),
    'short names forgotten': config => ({
      ...config,
      routes: config.routes.map(route => ({
        ...route,
        virtualHosts: (route.virtualHosts ?? []).map(host => ({
          ...host,
          domains: (host.domains ?? []).filter(domain => domain.includes('.') || domain === '*'),
        })),
      })),
    }),
    'unknown hosts let pass': config => ({
      ...config,
      routes: config.routes.map(route => ({
        ...route,
        virtualHosts: (route.virtualHosts ?? []).filter(host => host.name !== 'block_all'),
      })),
    }),
  };
  it.each(Object.keys(mutations))('%s', name => {
    expect(isCaught(fixedCases(), judge, mutations[name]!)).toBe(true);
  });

  /** The configuration of a world without some of its objects, judged by the model of the whole. */
  function isMissed(without: (object: JsonObject) => boolean): boolean {
    return [...fixedCases()].some(({ given, mesh, questions }) => {
      const objects = given.world.objects.filter(object => !without(object));
      if (objects.length === given.world.objects.length) return false;
      const { config } = configured({ ...given.world, objects }, given.client);
      return judge({ mesh, config, questions }).different.length > 0;
    });
  }
  it('ignored Sidecars', () => {
    expect(isMissed(({ kind }) => kind === 'Sidecar')).toBe(true);
  });
  it('ignored delegates', () => {
    expect(isMissed(one => one.kind === 'VirtualService' && textsIn(specOf(one).hosts).length === 0)).toBe(true);
  });
});
