// Over arbitrary meshes: what the oracle predicts for Periplus's configuration is what the Istio API says of
// connections that are not HTTP.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import type { FilterChain, TcpProxy } from '../../src/xds/proto/types.gen.ts';
import { fixedCasesOf, inquiryOf, setUp } from './mesh/inquiry.ts';
import { censusOf, isCaught, judgeBy } from './mesh/judge.ts';
import { tcpQuestion } from './mesh/questions.ts';
import { visibleServices } from './mesh/services.ts';
import { expectTcp, type TcpQuestion } from './mesh/tcp-model.ts';
import { parameters } from './seed.ts';

const inquiry = inquiryOf((world, client) => tcpQuestion(visibleServices(world, client)));
const fixedCases = fixedCasesOf(inquiry);

const judge = judgeBy<TcpQuestion>({
  expected: expectTcp,
  connection: ({ destination, sni }) => ({
    arrives: 'outbound',
    destination,
    ...(sni === undefined ? {} : { tls: { sni } }),
  }),
  kinds: (wanted, { sni }) => {
    if (wanted.length > 1) return ['split'];
    return [(wanted[0]?.split(' ')[1] ?? '').replace(/^.*:.*$/, sni === undefined ? 'service' : 'by name')];
  },
});

describe('connections that are not HTTP', () => {
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
    for (const kind of ['service', 'by name', 'split', 'passthrough', 'closed']) {
      expect(kinds.get(kind) ?? 0, kind).toBeGreaterThan(0);
    }
  });
});

/** Every filter chain and every TCP proxy, changed. */
function changed(
  config: ProxyConfig,
  chain: (chain: FilterChain) => FilterChain,
  proxy: (proxy: TcpProxy) => TcpProxy,
): ProxyConfig {
  const change = (one: FilterChain): FilterChain => ({
    ...chain(one),
    filters: (one.filters ?? []).map(filter =>
      filter.name === 'envoy.filters.network.tcp_proxy'
        ? { ...filter, typedConfig: { ...filter.typedConfig!, ...proxy(filter.typedConfig as TcpProxy) } }
        : filter,
    ),
  });
  const listeners = config.listeners.map(listener => ({
    ...listener,
    filterChains: (listener.filterChains ?? []).map(change),
    defaultFilterChain: listener.defaultFilterChain === undefined ? undefined : change(listener.defaultFilterChain),
  }));
  return { ...config, listeners };
}

describe('canary: a generator is caught with', () => {
  const same = <T>(value: T): T => value;
  const mutations: Readonly<Record<string, (config: ProxyConfig) => ProxyConfig>> = {
    'server names forgotten': config =>
      changed(config, chain => ({ ...chain, filterChainMatch: { ...chain.filterChainMatch, serverNames: [] } }), same),
    'subnets forgotten': config =>
      changed(config, chain => ({ ...chain, filterChainMatch: { ...chain.filterChainMatch, prefixRanges: [] } }), same),
    'weights exchanged': config =>
      changed(config, same, proxy => {
        const clusters = proxy.weightedClusters?.clusters ?? [];
        const weights = clusters.map(({ weight }) => weight).reverse();
        return { ...proxy, weightedClusters: { clusters: clusters.map((one, i) => ({ ...one, weight: weights[i] })) } };
      }),
    'subsets forgotten': config =>
      changed(config, same, proxy => ({ ...proxy, cluster: proxy.cluster?.replace(/\|v[12]\|/, '||') })),
    'unknown connections let pass': config =>
      changed(config, same, proxy => ({
        ...proxy,
        cluster: proxy.cluster?.replace('BlackHoleCluster', 'PassthroughCluster'),
      })),
    'listeners of addresses missing': config => ({
      ...config,
      listeners: config.listeners.filter(({ name }) => !/^10\.96\..*_5432$/.test(name ?? '')),
    }),
  };
  it.each(Object.keys(mutations))('%s', name => {
    expect(isCaught(fixedCases(), judge, mutations[name]!)).toBe(true);
  });
});
