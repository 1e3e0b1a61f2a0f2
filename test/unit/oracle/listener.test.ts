// Which listener takes a connection, what listener filters see, and when a connection gets no further.

import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/oracle/question.ts';
import { type Listener, type ListenerFilter, TrafficDirection } from '../../../src/xds/proto/types.gen.ts';
import { at, cluster, ORIGINAL_DST, oracle, outcome, routes, shown, tcp, tls } from './scene.ts';

const to = (name: string) => [{ filters: [tcp({ cluster: name })] }];
const clusters = ['virtual', 'exact', 'wildcard', 'six'].map(name => cluster(name)).concat(ORIGINAL_DST);
const off = { value: false };

const virtualOutbound: Listener = {
  name: 'virtualOutbound',
  address: at('0.0.0.0', 15_001),
  additionalAddresses: [{ address: at('::', 15_001) }],
  useOriginalDst: { value: true },
  filterChains: to('virtual'),
};
const listeners: readonly Listener[] = [
  virtualOutbound,
  { name: 'exact', address: at('10.0.0.1', 80), bindToPort: off, filterChains: to('exact') },
  { name: 'wildcard', address: at('0.0.0.0', 80), bindToPort: off, filterChains: to('wildcard') },
  { name: 'six', address: at('::', 81), bindToPort: off, filterChains: to('six') },
];

describe('captured outbound connections reach', () => {
  const rows: readonly (readonly [what: string, address: string, port: number, expected: string])[] = [
    ['the listener of the exact address', '10.0.0.1', 80, 'exact'],
    ['the wildcard of the port', '10.0.0.2', 80, 'wildcard'],
    ['the wildcard of their own family', 'fd00::1', 81, 'six'],
    ['no wildcard of the other family', '10.0.0.1', 81, 'virtual'],
    ['no wildcard of the other family either way', 'fd00::1', 80, 'virtual'],
    ['virtualOutbound itself otherwise', '10.0.0.1', 82, 'virtual'],
  ];
  it.each(rows)('%s', (_, address, port, expected) => {
    const found = outcome(oracle({ listeners, clusters }), { arrives: 'outbound', destination: { address, port } });
    expect(found).toMatchObject({ kind: 'forwarded', cluster: expected });
  });

  it('an IPv6 wildcard that accepts IPv4 too', () => {
    const address = { socketAddress: { address: '::', portValue: 82, ipv4Compat: true } };
    const both = oracle({
      listeners: [virtualOutbound, { name: 'both', address, bindToPort: off, filterChains: to('six') }],
      clusters,
    });
    expect(shown(both, { arrives: 'outbound', destination: { address: '10.0.0.1', port: 82 } })).toEqual([
      '100% six@10.9.0.1:80',
    ]);
  });
});

describe('connections that are not captured', () => {
  const destination = { address: '10.0.0.1', port: 80 };

  it('without use_original_dst, stay on the listener, and only the listener filter restores the destination', () => {
    const inbound = (listenerFilters: readonly ListenerFilter[]): Listener => ({
      name: 'virtualInbound',
      address: at('0.0.0.0', 15_006),
      listenerFilters,
      filterChains: [
        { filterChainMatch: { destinationPort: { value: 80 } }, filters: [tcp({ cluster: 'exact' })] },
        { filters: [tcp({ cluster: 'passthrough' })] },
      ],
    });
    const restoring = [{ name: 'envoy.filters.listener.original_dst' }];
    const arrives = 'inbound';
    expect(
      shown(oracle({ listeners: [...listeners, inbound(restoring)], clusters }), { arrives, destination }),
    ).toEqual(['100% exact@10.9.0.1:80']);
    // The original destination is unknown, and so is where the passthrough cluster goes.
    expect(shown(oracle({ listeners: [inbound([])], clusters }), { arrives, destination })).toEqual(['100% closed']);
  });

  it('need a listener with a socket', () => {
    const direct: Connection = { arrives: 'direct', destination };
    expect(shown(oracle({ listeners, clusters }), direct)).toEqual(['100% closed']);
    const gateway = { name: 'gateway', address: at('0.0.0.0', 80), filterChains: to('exact') };
    expect(shown(oracle({ listeners: [...listeners, gateway], clusters }), direct)).toEqual(['100% exact@10.9.0.1:80']);
  });

  it('are refused, not closed, where the proxy captures nothing and no process listens', () => {
    expect(outcome(oracle({}), { arrives: 'outbound', destination })).toEqual({
      kind: 'closed',
      why: 'no listener has this address',
    });
  });
});

describe('listener filters that inspect data', () => {
  const inspectors: readonly ListenerFilter[] = [
    { name: 'envoy.filters.listener.tls_inspector' },
    { name: 'envoy.filters.listener.http_inspector' },
  ];
  const chains = [
    { name: 'tls', filterChainMatch: { transportProtocol: 'tls' }, filters: [tcp({ cluster: 'tls' })] },
    {
      name: 'http',
      filterChainMatch: { applicationProtocols: ['http/1.1', 'h2c'] },
      filters: [routes({ match: { prefix: '/' }, route: { cluster: 'http' } })],
    },
    { name: 'tcp', filters: [tcp({ cluster: 'tcp' })] },
  ];
  const asked = (listenerFilters: readonly ListenerFilter[], more: Listener = {}) =>
    oracle({
      listeners: [{ address: at('0.0.0.0', 80), filterChains: chains, listenerFilters, ...more }],
      clusters: [cluster('tls'), cluster('http'), cluster('tcp')],
    });
  const direct = (rest: Partial<Connection>): Connection => ({
    arrives: 'direct',
    destination: { address: '10.0.0.1', port: 80 },
    ...rest,
  });
  const request = { authority: 'a' };
  const disabled = inspectors.map(filter => ({
    ...filter,
    filterDisabled: { destinationPortRange: { start: 80, end: 81 } },
  }));
  const elsewhere = inspectors.map(filter => ({
    ...filter,
    filterDisabled: { orMatch: { rules: [{ destinationPortRange: { start: 81, end: 90 } }] } },
  }));
  const here = inspectors.map(filter => ({
    ...filter,
    filterDisabled: {
      notMatch: { andMatch: { rules: [{ destinationPortRange: { start: 1, end: 80 } }, { anyMatch: true }] } },
    },
  }));

  it.each([
    ['see TLS', inspectors, { tls: {} }, 'tls'],
    ['see HTTP', inspectors, { http: request }, 'http'],
    ['see HTTP/2 with prior knowledge', inspectors, { http: { ...request, version: '2' } }, 'http'],
    ['see no HTTP/1.0 where no chain asks for it', inspectors, { http: { ...request, version: '1.0' } }, 'tcp'],
    ['see other bytes', inspectors, {}, 'tcp'],
    ['see nothing if they are not there', [], { tls: {} }, 'tcp'],
    ['see nothing on a port where they are off', disabled, { http: request }, 'tcp'],
    ['see on ports where they are not off', elsewhere, { http: request }, 'http'],
    ['see nothing, by a predicate of predicates', here, { http: request }, 'tcp'],
    ['do not look for HTTP in TLS', inspectors, { tls: {}, http: request }, 'tls'],
  ] as const)('%s', (_, filters, given, expected) => {
    expect(shown(asked(filters), direct(given))).toEqual([`100% ${expected}@10.9.0.1:80`]);
  });

  it('wait for a client that waits for the server, without end or until their timeout', () => {
    const silent = direct({ serverFirst: true });
    const never = { listenerFiltersTimeout: {} };
    const second = { listenerFiltersTimeout: { seconds: 1 } };
    expect(outcome(asked(inspectors, never), silent).kind).toBe('stuck');
    expect(outcome(asked(inspectors, second), silent).kind).toBe('closed');
    expect(outcome(asked(inspectors), silent).kind).toBe('closed');
    const patient = { ...second, continueOnListenerFiltersTimeout: true };
    expect(shown(asked(inspectors, patient), silent)).toEqual(['100% tcp@10.9.0.1:80']);
    expect(shown(asked(disabled, never), silent)).toEqual(['100% tcp@10.9.0.1:80']);
  });

  it('are named if they are not modelled', () => {
    const { branches } = asked([{ name: 'mine' }]).predict(direct({}));
    expect(branches[0]?.unmodelled).toEqual(['mine']);
  });
});

describe('handshakes', () => {
  const asked = (context = {}) =>
    oracle({
      listeners: [
        {
          address: at('0.0.0.0', 443),
          listenerFilters: [{ name: 'envoy.filters.listener.tls_inspector' }],
          filterChains: [
            { transportSocket: tls(context), filters: [routes({ match: { prefix: '/' }, route: { cluster: 'a' } })] },
          ],
        },
      ],
      clusters: [cluster('a')],
    });
  const direct = (rest: Partial<Connection>): Connection => ({
    arrives: 'direct',
    destination: { address: '10.0.0.1', port: 443 },
    ...rest,
  });
  const mutual = { requireClientCertificate: { value: true } };
  const request = { authority: 'a' };
  it.each([
    ['the request inside is served', {}, { tls: {}, http: request }, '100% a@10.9.0.1:80'],
    ['plaintext to TLS is closed', {}, { http: request }, '100% closed'],
    ['no certificate where one is demanded', mutual, { tls: {}, http: request }, '100% closed'],
    [
      'a certificate where one is demanded',
      mutual,
      { tls: { certificate: 'spiffe://a' }, http: request },
      '100% a@10.9.0.1:80',
    ],
    ['bytes that are not HTTP to a connection manager', {}, { tls: {} }, '100% closed'],
  ] as const)('%s', (_, context, given, expected) => {
    expect(shown(asked(context), direct(given))).toEqual([expected]);
  });
});

describe('policies of the destination', () => {
  const connection: Connection = { arrives: 'outbound', destination: { address: '10.0.0.1', port: 80 } };
  const beyondOf = (trafficDirection: Listener['trafficDirection'], asked = connection) => {
    const facing = { ...virtualOutbound, useOriginalDst: off, trafficDirection };
    return oracle({ listeners: [facing], clusters })
      .predict(asked)
      .branches.map(({ beyond }) => beyond);
  };

  it('are named, because they act in its own proxy', () => {
    const named = ['the policies of the destination, in the proxy of 10.9.0.1:80'];
    expect(beyondOf(TrafficDirection.OUTBOUND)).toEqual([named]);
    expect(beyondOf(undefined)).toEqual([named]);
  });

  it('are not named where the way ends at the workload, or earlier', () => {
    expect(beyondOf(TrafficDirection.INBOUND)).toEqual([[]]);
    expect(beyondOf(TrafficDirection.OUTBOUND, { ...connection, arrives: 'direct' })).toEqual([[]]);
  });
});
