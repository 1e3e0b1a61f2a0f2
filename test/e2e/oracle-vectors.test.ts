// The oracle reads what istiod sends: for every proxy of the conformance vectors, questions about every address and
// host that its configuration names are answered, without an exception and without a listener that Envoy would refuse.
// Needs the vectors beside the project.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { type Oracle, oracleOf } from '../../src/oracle/oracle.ts';
import type { Connection, ProxyConfig } from '../../src/oracle/question.ts';
import type { FilterChain, Listener } from '../../src/xds/proto/types.gen.ts';
import { fromProtoJson } from '../../src/xds/wire/protojson.ts';
import { listCases } from '../conformance/layout.ts';
import { findVectors } from '../conformance/vectors.ts';
import { canRun } from './suite.ts';

const vectors = findVectors();
const runs = canRun('test/e2e/oracle-vectors.test.ts', 'missing' in vectors ? vectors.missing : undefined);
const root = 'cases' in vectors ? vectors.cases : '';

/** What the oracle says it does not model, and what vectors lead to but do not hold. */
const ADMITTED =
  /^(filter chains chosen by a matcher tree|network filter .* as the last one|clusters of type .*|endpoints of .* were not given|route configuration .* was not given|a route that is for servers without a proxy|dynamic_metadata of route .*|a route action without a cluster that is modelled|the authorizer .* is asked, and the question does not say what it answers)$/;
const HOSTS_MAX = 12;

function read<T>(folder: string, file: string, type: string): readonly T[] {
  const path = join(folder, file);
  if (!existsSync(path)) return [];
  return (JSON.parse(readFileSync(path, 'utf8')) as readonly Json[]).map(json => {
    const { '@type': _, ...fields } = json as JsonObject;
    const found = fromProtoJson(type, fields);
    if (!isRight(found)) throw new Error(`${path}: ${found.left}`);
    return found.right as T;
  });
}

function configIn(folder: string): ProxyConfig {
  return {
    listeners: read(folder, 'lds.json', 'envoy.config.listener.v3.Listener'),
    routes: read(folder, 'rds.json', 'envoy.config.route.v3.RouteConfiguration'),
    clusters: read(folder, 'cds.json', 'envoy.config.cluster.v3.Cluster'),
    endpoints: read(folder, 'eds.json', 'envoy.config.endpoint.v3.ClusterLoadAssignment'),
  };
}

/** Every way in which a client could meet a listener or one of its chains. */
function connectionsTo(listener: Listener, hosts: readonly string[]): readonly Connection[] {
  const chains: readonly FilterChain[] = listener.filterChains ?? [];
  const own = listener.address?.socketAddress;
  const ports = new Set([
    own?.portValue ?? 0,
    ...chains.map(chain => chain.filterChainMatch?.destinationPort?.value ?? 9_999),
  ]);
  const names = new Set(['', ...chains.flatMap(chain => chain.filterChainMatch?.serverNames ?? []).map(concrete)]);
  const address = own?.address === '0.0.0.0' || own?.address === undefined ? '10.0.0.9' : own.address;
  const certificate = 'spiffe://cluster.local/ns/default/sa/default';
  return [...ports].flatMap(port => {
    const destination = { address, port };
    const contents: readonly Partial<Connection>[] = [
      {},
      { serverFirst: true },
      ...hosts.flatMap(authority => [
        { http: { authority, path: '/' } },
        { http: { authority, path: '/one/two?q=1', method: 'POST', headers: { 'content-type': 'application/grpc' } } },
      ]),
      ...[...names].flatMap(sni => [
        { tls: { sni } },
        { tls: { sni, alpn: ['istio-http/1.1', 'istio'], certificate }, http: { authority: sni || 'a' } },
      ]),
    ];
    return (['outbound', 'inbound', 'direct'] as const).flatMap(arrives =>
      contents.map((content): Connection => ({ arrives, destination, ...content })),
    );
  });
}

/** A name that a wildcard stands for. */
const concrete = (name: string): string => name.replace(/^\*/, 'some');

function hostsIn(config: ProxyConfig): readonly string[] {
  const domains = config.routes.flatMap(route => (route.virtualHosts ?? []).flatMap(host => host.domains ?? []));
  return [...new Set(['nowhere.test', ...domains.map(concrete)])].slice(0, HOSTS_MAX);
}

interface Found {
  readonly asked: number;
  readonly kinds: ReadonlyMap<string, number>;
  readonly odd: readonly string[];
}

function examine(oracle: Oracle, config: ProxyConfig): Found {
  const hosts = hostsIn(config);
  const kinds = new Map<string, number>();
  const odd = new Set<string>();
  let asked = 0;
  for (const connection of config.listeners.flatMap(listener => connectionsTo(listener, hosts))) {
    asked++;
    const { branches } = oracle.predict(connection);
    const total = branches.reduce((sum, { probability }) => sum + probability, 0);
    if (Math.abs(total - 1) > 1e-9) odd.add(`chances add up to ${total}: ${JSON.stringify(connection)}`);
    for (const { outcome } of branches) {
      kinds.set(outcome.kind, (kinds.get(outcome.kind) ?? 0) + 1);
      if (outcome.kind === 'unknown' && !ADMITTED.test(outcome.why)) odd.add(outcome.why);
    }
  }
  return { asked, kinds, odd: [...odd] };
}

/** The proxies of the vectors, and the folders of what istiod sends them. */
function proxies(): readonly { readonly name: string; readonly folder: string }[] {
  return listCases(root, []).flatMap(name => {
    const expected = join(root, name, 'expected');
    if (!existsSync(expected)) return [];
    const folders = readdirSync(expected, { withFileTypes: true }).filter(entry => entry.isDirectory());
    return folders.map(({ name: proxy }) => ({ name: `${name}/${proxy}`, folder: join(expected, proxy) }));
  });
}

describe.runIf(runs)('the oracle', () => {
  it('answers every question about istiod’s responses, or names what it does not model', () => {
    const odd: string[] = [];
    const kinds = new Map<string, number>();
    let asked = 0;
    const all = proxies();
    for (const { name, folder } of all) {
      const config = configIn(folder);
      const found = examine(oracleOf(config), config);
      odd.push(...found.odd.map(why => `${name}: ${why}`));
      for (const [kind, count] of found.kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
      asked += found.asked;
    }
    process.stderr.write(`${all.length} proxies, ${asked} questions: ${JSON.stringify([...kinds])}\n`);
    expect(odd).toEqual([]);
    expect(all.length).toBeGreaterThan(100);
    for (const kind of ['forwarded', 'answered', 'closed', 'stuck'])
      expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(0);
    expect(kinds.get('unknown') ?? 0).toBeLessThan(asked / 20);
  });

  it('canary: reports configuration that it cannot read', () => {
    const twice: FilterChain = { filters: [] };
    const listener: Listener = {
      address: { socketAddress: { address: '0.0.0.0', portValue: 80 } },
      filterChains: [twice, twice],
    };
    const config: ProxyConfig = { listeners: [listener], routes: [], clusters: [], endpoints: [] };
    expect(examine(oracleOf(config), config).odd).toEqual(['Envoy refuses the listener: #1 matches just as well']);
  });
});
