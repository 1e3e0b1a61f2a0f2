// Over arbitrary meshes: what the oracle predicts for Periplus's configuration is what the Istio API says of HTTP requests that leave a workload.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { explain } from '../../src/oracle/explain.ts';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import type { Route } from '../../src/xds/proto/types.gen.ts';
import { expectHttp } from './mesh/http-model.ts';
import type { Mesh, Question } from './mesh/http-route.ts';
import { fixedCasesOf, inquiryOf, setUp } from './mesh/inquiry.ts';
import { asked, configured, lines, shares } from './mesh/predicted.ts';
import { httpQuestion } from './mesh/questions.ts';
import { specOf, textsIn } from './mesh/read.ts';
import { visibleServices } from './mesh/services.ts';
import { parameters } from './seed.ts';

const inquiry = inquiryOf((world, client) => httpQuestion(visibleServices(world, client), client.namespace));
const fixedCases = fixedCasesOf(inquiry);

interface Judged {
  readonly agreed: number;
  readonly silent: number;
  readonly different: readonly string[];
  /** Kinds of answers, for the census. */
  readonly kinds: readonly string[];
}

function judge(mesh: Mesh, config: ProxyConfig, questions: readonly Question[]): Judged {
  const oracle = asked(config);
  let silent = 0;
  const different: string[] = [];
  const kinds: string[] = [];
  for (const question of questions) {
    const expected = expectHttp(mesh, question);
    if (expected === undefined) {
      silent++;
      continue;
    }
    const { destination, request } = question;
    const prediction = oracle.predict({ arrives: 'outbound', destination, http: request });
    const [want, got] = [lines(expected), lines(shares(prediction))];
    kinds.push(...want.map(kindOf));
    if (want.join('\n') === got.join('\n')) continue;
    different.push(
      `${JSON.stringify(question)}\nthe API: ${want.join('\n')}\nEnvoy: ${got.join('\n')}\n${explain(prediction)}`,
    );
  }
  return { agreed: questions.length - silent - different.length, silent, different, kinds };
}

function kindOf(line: string): string {
  const [, what = ''] = line.split(' ');
  if (/^30\d$/.test(what)) return 'redirect';
  if (/^\d+$/.test(what)) return what;
  return what === 'passthrough' || what === 'closed' ? what : what.includes('/v') ? 'subset' : 'service';
}

describe('HTTP requests that leave a workload', () => {
  it('go where the API says', () => {
    fc.assert(
      fc.property(inquiry, given => {
        const { mesh, config, questions } = setUp(given);
        expect(judge(mesh, config, questions).different).toEqual([]);
      }),
      parameters(60),
    );
  });

  it('the model has an opinion on most of them, and every kind of answer occurs (census)', () => {
    const census = new Map<string, number>();
    let [agreed, silent] = [0, 0];
    for (const { mesh, config, questions } of fixedCases()) {
      const judged = judge(mesh, config, questions);
      expect(judged.different).toEqual([]);
      agreed += judged.agreed;
      silent += judged.silent;
      for (const kind of judged.kinds) census.set(kind, (census.get(kind) ?? 0) + 1);
    }
    expect(agreed).toBeGreaterThan(silent);
    for (const kind of ['service', 'subset', 'passthrough', '404', '503', 'redirect']) {
      expect(census.get(kind) ?? 0, kind).toBeGreaterThan(0);
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

describe('a generator that errs is caught (canaries)', () => {
  function isCaught(mutate: (config: ProxyConfig) => ProxyConfig): boolean {
    for (const { mesh, config, questions } of fixedCases()) {
      if (judge(mesh, mutate(config), questions).different.length > 0) return true;
    }
    return false;
  }
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
    expect(isCaught(mutations[name]!)).toBe(true);
  });

  /** The configuration of a world without some of its objects, judged by the model of the whole. */
  function isMissed(without: (object: JsonObject) => boolean): boolean {
    return [...fixedCases()].some(({ given, mesh, questions }) => {
      const objects = given.world.objects.filter(object => !without(object));
      if (objects.length === given.world.objects.length) return false;
      const { config } = configured({ ...given.world, objects }, given.client);
      return judge(mesh, config, questions).different.length > 0;
    });
  }
  it('Sidecars ignored', () => {
    expect(isMissed(({ kind }) => kind === 'Sidecar')).toBe(true);
  });
  it('delegates ignored', () => {
    expect(isMissed(one => one.kind === 'VirtualService' && textsIn(specOf(one).hosts).length === 0)).toBe(true);
  });
});
