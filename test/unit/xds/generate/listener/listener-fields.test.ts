// Listeners and their chains, each field from the one input that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/listener.go, pilot/pkg/networking/core/listener_builder.go,
// pilot/pkg/networking/core/listener_inbound.go.

import { describe, expect, it } from 'vitest';
import { inboundChain, inboundRoutes } from '../../../../../src/xds/generate/listener/inbound-chains.ts';
import {
  inboundBlackHole,
  inboundListener,
  tunnelledListener,
} from '../../../../../src/xds/generate/listener/inbound-listeners.ts';
import {
  httpInspector,
  inboundInspectors,
  originalDestination,
  originalSource,
  tlsInspector,
} from '../../../../../src/xds/generate/listener/listener-filters.ts';
import { outboundChain, outboundListener } from '../../../../../src/xds/generate/listener/outbound-listeners.ts';
import { blackHole } from '../../../../../src/xds/generate/listener/tcp-proxy.ts';
import { virtualOutboundListener } from '../../../../../src/xds/generate/listener/virtual-outbound.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';

const never = { seconds: 0, nanos: 0 };
const at = (address: string, portValue: number) => ({ socketAddress: { address, portValue } });
const quiet = { maxConnectionsPerEvent: 0, exactBalance: false };
const busy = { maxConnectionsPerEvent: 5, exactBalance: true };
const socket = {
  maxConnectionsToAcceptPerSocketEvent: { value: 5 },
  connectionBalanceConfig: { exactBalance: {} },
};
const log = [{ name: 'log' }];
const chain: FilterChain = { name: 'c' };

describe('virtualOutbound', () => {
  const inputs = {
    bind: '0.0.0.0',
    moreBinds: [],
    port: 15_001,
    transparent: false,
    metricsFilters: [{ name: 'stats' }],
    fallthrough: [{ name: 'tcp' }],
    accessLog: undefined,
    ...quiet,
  };
  const plain = {
    name: 'virtualOutbound',
    address: at('0.0.0.0', 15_001),
    trafficDirection: 2,
    useOriginalDst: { value: true },
    filterChains: [
      {
        name: 'virtualOutbound-blackhole',
        filterChainMatch: { destinationPort: { value: 15_001 } },
        filters: [{ name: 'stats' }, blackHole],
      },
      { name: 'virtualOutbound-catchall-tcp', filters: [{ name: 'tcp' }] },
    ],
  };

  it('drops connections to itself, and passes on what no service takes', () => {
    expect(virtualOutboundListener.run(inputs)).toEqual({ name: 'virtualOutbound', message: plain, problems: [] });
  });

  it('may be transparent, log, have a second address and limits of its socket', () => {
    const all = { ...inputs, ...busy, transparent: true, accessLog: log, moreBinds: ['::'] };
    expect(virtualOutboundListener.run(all).message).toEqual({
      ...plain,
      ...socket,
      transparent: { value: true },
      accessLog: log,
      additionalAddresses: [{ address: at('::', 15_001) }],
    });
  });
});

describe('an outbound listener', () => {
  const inputs = {
    bind: '10.0.0.1',
    moreBinds: [],
    port: 80,
    bindToPort: false,
    chains: [chain],
    fallthrough: undefined,
    inspectsTls: false,
    detection: '5s',
    conflicts: [],
    ...quiet,
  };
  const message = (more: object) => outboundListener.run({ ...inputs, ...more }).message;
  const narrow = (alpn?: readonly string[]): FilterChain => ({
    filterChainMatch: alpn === undefined ? {} : { applicationProtocols: alpn },
  });

  it('is not bound, waits for nothing, and has the one chain that takes all', () => {
    expect(outboundListener.run(inputs)).toEqual({
      name: '10.0.0.1_80',
      problems: [],
      message: {
        name: '10.0.0.1_80',
        address: at('10.0.0.1', 80),
        trafficDirection: 2,
        bindToPort: { value: false },
        listenerFilters: [],
        continueOnListenerFiltersTimeout: true,
        listenerFiltersTimeout: never,
        filterChains: [chain],
      },
    });
    expect(outboundListener.run({ ...inputs, conflicts: ['c'] }).problems).toEqual([{ path: '', message: 'c' }]);
  });

  it('has the limits of its socket only where it is bound', () => {
    expect(message({ ...busy, bindToPort: true })).toMatchObject(socket);
    expect(message({ ...busy, bindToPort: true }).bindToPort).toBeUndefined();
    expect(message(busy).maxConnectionsToAcceptPerSocketEvent).toBeUndefined();
    expect(message(busy).connectionBalanceConfig).toEqual({ exactBalance: {} });
  });

  it('inspects TLS where told to, and HTTP, for which it waits, where a chain depends on it', () => {
    expect(message({ inspectsTls: true }).listenerFilters).toEqual([tlsInspector]);
    expect(message({ inspectsTls: true }).listenerFiltersTimeout).toEqual(never);
    const sniffed = message({ chains: [narrow(), narrow(['h2c']), chain] });
    expect(sniffed.listenerFilters).toEqual([httpInspector]);
    expect(sniffed.listenerFiltersTimeout).toEqual({ seconds: 5, nanos: 0 });
    expect(message({ chains: [narrow([])] }).listenerFilters).toEqual([]);
    expect(message({ chains: [narrow(['h2c'])], detection: undefined }).listenerFiltersTimeout).toEqual(never);
  });

  it('takes what no chain matches by the chain that takes all, or passes it through', () => {
    const both = message({ chains: [narrow(), chain] });
    expect([both.filterChains, both.defaultFilterChain]).toEqual([[narrow()], chain]);
    const passing = message({ chains: [narrow()], fallthrough: [{ name: 'tcp' }] });
    expect(passing.defaultFilterChain).toEqual({
      name: 'PassthroughFilterChain',
      filterChainMatch: {},
      filters: [{ name: 'tcp' }],
    });
  });

  it('has chains that match names, addresses and protocols, and name their VirtualService', () => {
    const plain = {
      matchesAll: false,
      serverNames: [],
      ranges: [],
      alpn: undefined,
      filters: [],
      connectTimeoutMs: 0,
      configNamespace: 'ns',
      configName: '',
    };
    const of = (more: object) => outboundChain.run({ ...plain, ...more });
    expect(of({})).toEqual({ filterChainMatch: {}, filters: [] });
    expect(of({ matchesAll: true }).filterChainMatch).toBeUndefined();
    expect(of({ serverNames: ['a'], ranges: ['10.0.0.0/8'], alpn: ['h2c'], connectTimeoutMs: 1_500 })).toEqual({
      filterChainMatch: {
        serverNames: ['a'],
        prefixRanges: [{ addressPrefix: '10.0.0.0', prefixLen: { value: 8 } }],
        transportProtocol: 'raw_buffer',
        applicationProtocols: ['h2c'],
      },
      filters: [],
      transportSocketConnectTimeout: { seconds: 1, nanos: 500_000_000 },
    });
    expect(of({ configName: 'v' }).metadata).toEqual({
      filterMetadata: { istio: { config: '/apis/networking.istio.io/v1/namespaces/ns/virtual-service/v' } },
    });
  });
});

describe('an inbound listener', () => {
  const inputs = {
    name: 'in',
    bind: '0.0.0.0',
    moreBinds: [],
    port: 15_006,
    chains: [chain],
    virtual: false,
    transparent: false,
    detection: undefined,
    accessLog: undefined,
    ...quiet,
  };
  const plain = {
    name: 'in',
    address: at('0.0.0.0', 15_006),
    trafficDirection: 1,
    listenerFilters: [],
    continueOnListenerFiltersTimeout: true,
    listenerFiltersTimeout: never,
    filterChains: [chain],
  };

  it('has nothing but its address and chains by default', () => {
    expect(inboundListener.run(inputs)).toEqual({ name: 'in', message: plain, problems: [] });
  });

  it('learns the destination if it is virtual, and the source if it is transparent', () => {
    const all = {
      ...inputs,
      ...busy,
      virtual: true,
      transparent: true,
      detection: '2s',
      accessLog: log,
      moreBinds: ['::'],
    };
    expect(inboundListener.run(all).message).toEqual({
      ...plain,
      ...socket,
      transparent: { value: true },
      listenerFilters: [originalDestination, originalSource],
      listenerFiltersTimeout: { seconds: 2, nanos: 0 },
      accessLog: log,
      additionalAddresses: [{ address: at('::', 15_006) }],
    });
  });

  it('drops connections to its own port', () => {
    expect(inboundBlackHole.run({ port: 15_006, filters: [{ name: 'stats' }] })).toEqual({
      name: 'virtualInbound-blackhole',
      filterChainMatch: { destinationPort: { value: 15_006 } },
      filters: [{ name: 'stats' }, blackHole],
    });
  });

  it('for what comes out of tunnels is internal', () => {
    expect(tunnelledListener.run({ chains: [chain], accessLog: log })).toEqual({
      name: 'main_internal',
      problems: [],
      message: {
        name: 'main_internal',
        internalListener: {},
        trafficDirection: 1,
        listenerFilters: [originalDestination],
        continueOnListenerFiltersTimeout: true,
        accessLog: log,
        filterChains: [chain],
      },
    });
  });

  it('has chains that match a port and protocols, or the addresses of a tunnel', () => {
    const of = (more: object) =>
      inboundChain.run({
        name: 'c',
        destinationPort: 0,
        transport: 'tls',
        alpn: undefined,
        socket: undefined,
        filters: [],
        configNamespace: 'ns',
        configName: '',
        ...more,
      });
    expect(of({})).toEqual({ name: 'c', filterChainMatch: { transportProtocol: 'tls' }, filters: [] });
    expect(of({ destinationPort: 80, alpn: ['h2'], addresses: ['10.0.0.1'] }).filterChainMatch).toEqual({
      destinationPort: { value: 80 },
      prefixRanges: [{ addressPrefix: '10.0.0.1', prefixLen: { value: 32 } }],
      applicationProtocols: ['h2'],
    });
    expect(of({ configName: 's' }).metadata).toEqual({
      filterMetadata: { istio: { config: '/apis/networking.istio.io/v1/namespaces/ns/sidecar/s' } },
    });
  });

  it('routes every request to the workload, without a timeout, again only before it was answered', () => {
    const routes = (retries: boolean) =>
      inboundRoutes.run({ cluster: 'inbound|80||', port: 80, operation: 'o', retries });
    expect(routes(true)).toEqual({
      name: 'inbound|80||',
      validateClusters: { value: false },
      virtualHosts: [
        {
          name: 'inbound|http|80',
          domains: ['*'],
          routes: [
            {
              name: 'default',
              match: { prefix: '/' },
              decorator: { operation: 'o' },
              route: {
                cluster: 'inbound|80||',
                timeout: never,
                maxStreamDuration: { maxStreamDuration: never, grpcTimeoutHeaderMax: never },
                retryPolicy: { retryOn: 'reset-before-request', numRetries: { value: 2 } },
              },
            },
          ],
        },
      ],
    });
    expect(routes(false).virtualHosts?.[0]?.routes?.[0]?.route?.retryPolicy).toBeUndefined();
  });
});

describe('the inspectors of an inbound listener', () => {
  const of = (port: number | undefined, more: object): FilterChain => ({
    filterChainMatch: { ...(port === undefined ? {} : { destinationPort: { value: port } }), ...more },
  });
  const tls = (port?: number) => of(port, { transportProtocol: 'tls' });
  const raw = (port?: number) => of(port, { transportProtocol: 'raw_buffer' });
  const http = (port: number | undefined, ...alpn: readonly string[]) => of(port, { applicationProtocols: alpn });
  const on = (start: number) => ({ destinationPortRange: { start, end: start + 1 } });

  it('are none where no chain asks for them', () => {
    expect(inboundInspectors([])).toEqual([]);
    expect(inboundInspectors([{}, raw(80), http(80, 'h2')])).toEqual([]);
  });

  it('look for TLS at the ports of chains with TLS alone', () => {
    expect(inboundInspectors([tls(81), raw(80), tls(80), raw(79)])).toEqual([
      { ...tlsInspector, filterDisabled: { notMatch: { orMatch: { rules: [on(80), on(81)] } } } },
    ]);
  });

  it('look for TLS at all ports but those without it where a chain of all ports has TLS', () => {
    expect(inboundInspectors([tls(), raw(80), tls(81)])).toEqual([{ ...tlsInspector, filterDisabled: on(80) }]);
    expect(inboundInspectors([tls(), tls(81)])).toEqual([tlsInspector]);
  });

  it.each(['http/1.1', 'h2c'])('look for HTTP at the ports that tell it by %s', protocol => {
    expect(inboundInspectors([http(80, protocol), http(81, 'h2')])).toEqual([
      { ...httpInspector, filterDisabled: on(81) },
    ]);
    expect(inboundInspectors([http(80, protocol)])).toEqual([httpInspector]);
  });
});
