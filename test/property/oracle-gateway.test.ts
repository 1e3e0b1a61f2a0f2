// Over arbitrary meshes: what the oracle predicts for a gateway that Periplus configures is what the Istio API says of
// connections from outside.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import type { RouteConfiguration } from '../../src/xds/proto/types.gen.ts';
import { expectAtGateway, type GatewayQuestion, gatewayMesh } from './mesh/gateway-model.ts';
import { anyGatewayWorld } from './mesh/gateway-world.ts';
import type { Mesh } from './mesh/http-route.ts';
import { censusOf, isCaught, judgeBy } from './mesh/judge.ts';
import { configured } from './mesh/predicted.ts';
import { gatewayQuestion } from './mesh/questions.ts';
import { listIn, objectIn, specOf } from './mesh/read.ts';
import type { Client } from './mesh/services.ts';
import type { World } from './mesh/world.ts';
import { parameters } from './seed.ts';

const GATEWAY: Client = { namespace: 'istio-system', labels: { istio: 'ingressgateway' } };
const QUESTIONS = 16;

interface Given {
  readonly world: World;
  readonly questions: readonly GatewayQuestion[];
}
const inquiry: fc.Arbitrary<Given> = anyGatewayWorld.chain(world => {
  const servers = world.objects.flatMap(one => (one.kind === 'Gateway' ? listIn(specOf(one).servers) : []));
  const ports = servers.map(server => Number(objectIn(server.port).number));
  const questions = fc.array(gatewayQuestion(ports), { minLength: QUESTIONS, maxLength: QUESTIONS });
  return questions.map(found => ({ world, questions: found }));
});

interface Case {
  readonly mesh: Mesh;
  readonly config: ProxyConfig;
}
function setUp(world: World): Case {
  const { world: accepted, config } = configured(world, GATEWAY, {}, 'router');
  return { mesh: gatewayMesh(accepted, GATEWAY), config };
}

const judge = judgeBy<GatewayQuestion>({
  expected: expectAtGateway,
  connection: ({ destination, sni, request }) => {
    const tls = sni === undefined ? {} : { tls: sni === '' ? {} : { sni } };
    return { arrives: 'direct', destination, http: request, ...tls };
  },
  kinds: (wanted, { sni }) => wanted.map(line => kindOf(line, sni !== undefined)),
});

function kindOf(line: string, secured: boolean): string {
  const [, what = '', endpoints = '', authority = ''] = line.split(' ');
  if (what === 'closed' || /^\d+$/.test(what)) return secured ? `${what} in TLS` : what;
  if (endpoints === '') return what;
  return `${authority === '' ? 'bytes' : 'request'}${secured ? ' in TLS' : ''}`;
}

/** Counterexamples found before, replayed first. */
const FOUND: [Given][] = ['gateway-redirect-port.json'].map(file => [
  JSON.parse(readFileSync(join(import.meta.dirname, 'counterexamples', file), 'utf8')) as Given,
]);

describe('connections to a gateway', () => {
  it('reach the destination that the API defines', () => {
    fc.assert(
      fc.property(inquiry, ({ world, questions }) => {
        expect(judge({ ...setUp(world), questions }).different).toEqual([]);
      }),
      parameters(60, FOUND),
    );
  });

  it('census: are mostly predicted by the model, and every kind of answer occurs', () => {
    const { asked, silent, different, kinds } = censusOf(fixedCases(), judge);
    expect(different).toEqual([]);
    expect(silent).toBeLessThan(asked / 2);
    const rare = [
      ...['request', 'request in TLS', 'bytes', 'bytes in TLS', 'closed', 'closed in TLS', '404', '404 in TLS'],
      ...['503', '301', '301 in TLS', '418'],
    ].filter(kind => !kinds.has(kind));
    expect(rare, JSON.stringify([...kinds])).toEqual([]);
  });
});

const FIXED_SEED = 7;
const FIXED_CASES = 80;
const sampled = fc.sample(inquiry, { numRuns: FIXED_CASES, seed: FIXED_SEED });
const fixed: (Case | undefined)[] = [];
/** Always the same worlds, so that what they hold is not a matter of luck; each is made when it is first asked for. */
function* fixedCases(): Generator<Case & Given> {
  for (const [i, given] of sampled.entries()) {
    fixed[i] ??= setUp(given.world);
    yield { ...fixed[i], ...given };
  }
}

describe('canary: a generator is caught with', () => {
  const withRoutes =
    (change: (route: RouteConfiguration) => RouteConfiguration) =>
    (config: ProxyConfig): ProxyConfig => ({ ...config, routes: config.routes.map(change) });
  const mutations: Readonly<Record<string, (config: ProxyConfig) => ProxyConfig>> = {
    'the routes of a host in another order': withRoutes(route => ({
      ...route,
      virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, routes: [...(host.routes ?? [])].reverse() })),
    })),
    'a redirect to https forgotten': withRoutes(route => ({
      ...route,
      virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, requireTls: undefined })),
    })),
    'wildcard hosts forgotten': withRoutes(route => ({
      ...route,
      virtualHosts: (route.virtualHosts ?? []).filter(host => !host.domains?.some(domain => domain.includes('*'))),
    })),
    'server names forgotten': config => ({
      ...config,
      listeners: config.listeners.map(one => ({
        ...one,
        filterChains: (one.filterChains ?? []).map(chain => ({ ...chain, filterChainMatch: undefined })),
      })),
    }),
  };
  it.each(Object.keys(mutations))('%s', name => {
    expect(isCaught(fixedCases(), judge, mutations[name]!)).toBe(true);
  });

  /** The configuration of a world with other objects, judged by the model of what it is. */
  function isMissed(change: (object: JsonObject) => JsonObject): boolean {
    return [...fixedCases()].some(({ world, mesh, questions }) => {
      const { config } = setUp({ ...world, objects: world.objects.map(change) });
      return judge({ mesh, config, questions }).different.length > 0;
    });
  }
  it('ignored selectors', () => {
    const selecting = (one: JsonObject): JsonObject =>
      one.kind === 'Gateway' ? { ...one, spec: { ...specOf(one), selector: undefined } } : one;
    expect(isMissed(one => JSON.parse(JSON.stringify(selecting(one))) as JsonObject)).toBe(true);
  });
  it('ignored namespaces in hosts of servers', () => {
    expect(
      isMissed(one => {
        if (one.kind !== 'Gateway') return one;
        const servers = listIn(specOf(one).servers).map(server => ({
          ...server,
          hosts: (server.hosts as readonly string[]).map(host => host.replace(/^.*\//, '')),
        }));
        return { ...one, spec: { ...specOf(one), servers } };
      }),
    ).toBe(true);
  });
});
