// Listeners of gateways and their chains, each field from the one input that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/gateway.go, pilot/pkg/networking/core/listener_builder.go.

import { describe, expect, it } from 'vitest';
import { distinctChains } from '../../../../../src/xds/generate/listener/distinct-chains.ts';
import {
  gatewayChain,
  gatewayListener,
  inspectsTls,
} from '../../../../../src/xds/generate/listener/gateway-listeners.ts';
import { proxyProtocol, tlsInspector } from '../../../../../src/xds/generate/listener/listener-filters.ts';
import { quicListener } from '../../../../../src/xds/generate/listener/quic-listener.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';

const at = (address: string, portValue: number) => ({ socketAddress: { address, portValue } });
const quiet = { maxConnectionsPerEvent: 0, exactBalance: false };
const busy = { maxConnectionsPerEvent: 5, exactBalance: true };
const socket = {
  maxConnectionsToAcceptPerSocketEvent: { value: 5 },
  connectionBalanceConfig: { exactBalance: {} },
};
const log = [{ name: 'log' }];
const chain: FilterChain = { name: 'c' };

/** A comparison of each with each takes ten times as long. */
const CPU_MS_MAX = 3_000;

describe('a gateway’s listener', () => {
  const inputs = {
    name: 'gw',
    bind: '0.0.0.0',
    moreBinds: [],
    port: 443,
    chains: [chain],
    inspectsTls: false,
    proxyProtocol: false,
    accessLog: undefined,
    problems: [],
    ...quiet,
  } as Parameters<typeof gatewayListener.run>[0];
  const plain = { name: 'gw', address: at('0.0.0.0', 443), trafficDirection: 2, filterChains: [chain] };

  it('has its filters only where they are needed, and reports', () => {
    expect(gatewayListener.run(inputs)).toEqual({ name: 'gw', message: plain, problems: [] });
    const all = gatewayListener.run({ ...inputs, ...busy, inspectsTls: true, proxyProtocol: true, problems: ['p'] });
    expect(all.message).toEqual({ ...plain, ...socket, listenerFilters: [proxyProtocol, tlsInspector] });
    expect(all.problems).toEqual([{ path: '', message: 'p' }]);
  });

  it('at a socket of the file system has its path', () => {
    expect(gatewayListener.run({ ...inputs, bind: 'unix:///run/s', port: 0 }).message.address).toEqual({
      pipe: { path: '/run/s' },
    });
    expect(gatewayListener.run({ ...inputs, bind: 'unix:///run/s' }).message.address).toEqual(at('unix:///run/s', 443));
    expect(gatewayListener.run({ ...inputs, port: 0 }).message.address).toEqual(at('0.0.0.0', 0));
  });

  it('over QUIC is one for UDP', () => {
    const quic = {
      name: 'q',
      bind: '0.0.0.0',
      moreBinds: ['::'],
      port: 443,
      chains: [chain],
      accessLog: log,
      ...quiet,
    };
    const udp = (address: string) => ({ socketAddress: { address, portValue: 443, protocol: 1 } });
    const message = {
      name: 'q',
      address: udp('0.0.0.0'),
      additionalAddresses: [{ address: udp('::') }],
      trafficDirection: 2,
      udpListenerConfig: { quicOptions: {}, downstreamSocketConfig: {} },
      accessLog: log,
      filterChains: [chain],
    };
    expect(quicListener.run(quic)).toEqual({ name: 'q', message, problems: [] });
  });

  it('has chains that match names and protocols, if they are narrowed', () => {
    const of = (more: object) =>
      gatewayChain.run({ serverNames: [], alpn: [], socket: undefined, filters: [], connectTimeoutMs: 0, ...more });
    expect(of({})).toEqual({ filters: [] });
    expect(of({ alpn: ['h2'] }).filterChainMatch).toEqual({ applicationProtocols: ['h2'] });
    const named = of({ serverNames: ['a'], connectTimeoutMs: 1_000 });
    expect(named.filterChainMatch).toEqual({ serverNames: ['a'] });
    expect(named.transportSocketConnectTimeout).toEqual({ seconds: 1, nanos: 0 });
    expect([of({}), of({ alpn: ['h2'] }), named, of({ socket: {} })].map(inspectsTls)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(inspectsTls({ filterChainMatch: { serverNames: [] } })).toBe(false);
  });

  it('loses names that an earlier chain of the same protocols has', () => {
    const of = (serverNames: readonly string[], applicationProtocols: readonly string[] = []): FilterChain => ({
      filterChainMatch: { serverNames, applicationProtocols },
    });
    const narrow = (_: FilterChain, serverNames: readonly string[]) => of(serverNames);
    const first = of(['a', 'b']);
    const other = of(['a'], ['h2']);
    expect(distinctChains([first, of(['b', 'c']), other, of(['a'])], narrow)).toEqual({
      chains: [first, of(['c']), other],
      lost: ['b', 'a'],
    });
    expect(distinctChains([{}, of([]), first], narrow)).toEqual({ chains: [{}, first], lost: [''] });
    expect(distinctChains([first], narrow)).toEqual({ chains: [first], lost: [] });
  });

  it('keeps the names of a chain at a cost that follows their number', () => {
    const serverNames = Array.from({ length: 100_000 }, (_, i) => `h${i}.example.com`);
    const chain = { filterChainMatch: { serverNames } };
    const before = process.cpuUsage();
    const { chains, lost } = distinctChains(
      [chain, { filterChainMatch: { serverNames: [...serverNames] } }],
      () => ({}),
    );
    expect(chains).toEqual([chain]);
    expect(lost).toHaveLength(serverNames.length);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  });
});
