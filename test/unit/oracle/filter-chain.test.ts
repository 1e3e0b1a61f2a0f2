// Envoy's nine questions to filter chains, row by row: each chain list, each connection, the chain that serves it.

import { describe, expect, it } from 'vitest';
import { chooseChain } from '../../../src/oracle/filter-chain.ts';
import type { Detected } from '../../../src/oracle/inspect.ts';
import {
  type CidrRange,
  type FilterChainMatch,
  FilterChainMatch_ConnectionSourceType as SourceType,
} from '../../../src/xds/proto/types.gen.ts';

type Chains = Readonly<Record<string, FilterChainMatch>>;
interface Given {
  readonly to?: string;
  readonly port?: number;
  readonly from?: string;
  readonly fromPort?: number;
  readonly sni?: string;
  readonly tls?: boolean;
  readonly alpn?: readonly string[];
}

function chosen(chains: Chains, given: Given, fallback = false): string {
  const filterChains = Object.entries(chains).map(([name, filterChainMatch]) => ({ name, filterChainMatch }));
  const detected: Detected = {
    transportProtocol: given.tls === true || given.sni !== undefined ? 'tls' : 'raw_buffer',
    serverName: given.sni ?? '',
    applicationProtocols: given.alpn ?? [],
    why: '',
  };
  const { name } = chooseChain(
    { filterChains, defaultFilterChain: fallback ? { name: 'default' } : undefined },
    {
      local: { address: given.to ?? '10.0.0.1', port: given.port ?? 80 },
      remote: { address: given.from ?? '192.0.2.1', port: given.fromPort ?? 1234 },
      detected,
    },
  );
  return name;
}

const port = (value: number): FilterChainMatch => ({ destinationPort: { value } });
const range = (text: string): CidrRange => {
  const [addressPrefix, length] = text.split('/');
  return { addressPrefix, prefixLen: { value: Number(length) } };
};
const to = (...ranges: readonly string[]): FilterChainMatch => ({ prefixRanges: ranges.map(range) });
const from = (...ranges: readonly string[]): FilterChainMatch => ({ sourcePrefixRanges: ranges.map(range) });
const names = (...serverNames: readonly string[]): FilterChainMatch => ({ serverNames });
const alpn = (...applicationProtocols: readonly string[]): FilterChainMatch => ({ applicationProtocols });
const any: FilterChainMatch = {};
const local: FilterChainMatch = { sourceType: SourceType.SAME_IP_OR_LOOPBACK };
const external: FilterChainMatch = { sourceType: SourceType.EXTERNAL };
const tls: FilterChainMatch = { transportProtocol: 'tls' };
const raw: FilterChainMatch = { transportProtocol: 'raw_buffer' };

describe('a single criterion of filter chain matching', () => {
  const rows: readonly (readonly [what: string, chains: Chains, given: Given, expected: string])[] = [
    ['the port', { any, a: port(80) }, { port: 80 }, 'a'],
    ['no port, if no chain names this one', { any, a: port(80) }, { port: 81 }, 'any'],
    ['the longest prefix', { a: to('10.0.0.0/8'), b: to('10.0.0.0/24'), any }, { to: '10.0.0.9' }, 'b'],
    [
      'the longest of several prefixes',
      { a: to('10.0.0.0/8'), b: to('1.0.0.0/8', '10.0.0.9/32') },
      { to: '10.0.0.9' },
      'b',
    ],
    [
      'a shorter prefix where the longer does not hold it',
      { a: to('10.0.0.0/8'), b: to('10.0.0.0/24') },
      { to: '10.1.0.1' },
      'a',
    ],
    ['IPv6 by value', { a: to('fd00::/16'), b: to('fd00:0:0::1/128') }, { to: 'fd00::0:1' }, 'b'],
    ['no IPv4 range holds an IPv6 address', { a: to('0.0.0.0/0') }, { to: 'fd00::1' }, ''],
    ['the exact server name', { a: names('*.b.com'), b: names('a.b.com'), any }, { sni: 'a.b.com' }, 'b'],
    ['the longest wildcard', { a: names('*.com'), b: names('*.b.com'), any }, { sni: 'a.b.com' }, 'b'],
    ['a wildcard over several labels', { a: names('*.com'), any }, { sni: 'x.y.b.com' }, 'a'],
    ['no wildcard for the bare domain', { a: names('*.b.com'), any }, { sni: 'b.com' }, 'any'],
    ['no chain with names for no name', { a: names('b.com') }, { tls: true }, ''],
    ['the transport protocol', { a: tls, b: raw, any }, { tls: true }, 'a'],
    ['plaintext is raw_buffer', { a: tls, b: raw, any }, {}, 'b'],
    ['no transport protocol, if no chain names this one', { a: tls, any }, {}, 'any'],
    [
      'the first protocol that the client offers',
      { a: alpn('http/1.1'), b: alpn('h2') },
      { alpn: ['h2', 'http/1.1'] },
      'b',
    ],
    ['the next one, if no chain lists the first', { a: alpn('http/1.1'), any }, { alpn: ['h2', 'http/1.1'] }, 'a'],
    ['no protocol, if no chain lists one', { a: alpn('h2'), any }, { alpn: ['istio'] }, 'any'],
    ['direct source', { a: { directSourcePrefixRanges: [range('192.0.2.0/24')] }, any }, {}, 'a'],
    ['loopback is local', { a: local, b: external, any }, { from: '127.0.0.5' }, 'a'],
    ['the same address is local', { a: local, b: external, any }, { from: '10.0.0.1', to: '10.0.0.1' }, 'a'],
    ['others are external', { a: local, b: external, any }, {}, 'b'],
    ['any source, if no chain names this type', { a: local, any }, {}, 'any'],
    ['the longest source prefix', { a: from('192.0.0.0/8'), b: from('192.0.2.0/24') }, {}, 'b'],
    ['the source port', { a: { sourcePorts: [1, 1234] }, any }, {}, 'a'],
    ['no source port', { a: { sourcePorts: [1] }, any }, {}, 'any'],
  ];
  it.each(rows)('prefers %s', (_, chains, given, expected) => {
    expect(chosen(chains, given)).toBe(expected);
    const turned = Object.fromEntries(Object.entries(chains).reverse());
    expect(chosen(turned, given)).toBe(expected);
  });
});

describe('the order of criteria', () => {
  // Of two neighbours the earlier decides, although the other chain answers the later question better.
  const rows: readonly (readonly [string, Chains, Given])[] = [
    ['port before address', { first: port(80), second: to('10.0.0.1/32') }, {}],
    ['address before server name', { first: to('10.0.0.0/8'), second: names('a.com') }, { sni: 'a.com' }],
    ['server name before transport protocol', { first: names('a.com'), second: tls }, { sni: 'a.com' }],
    ['transport protocol before application protocol', { first: raw, second: alpn('h2c') }, { alpn: ['h2c'] }],
    ['application protocol before source type', { first: alpn('h2c'), second: external }, { alpn: ['h2c'] }],
    [
      'direct source before source type',
      { first: { directSourcePrefixRanges: [range('192.0.2.0/24')] }, second: external },
      {},
    ],
    ['source type before source address', { first: external, second: from('192.0.2.0/24') }, {}],
    ['source address before source port', { first: from('192.0.2.0/24'), second: { sourcePorts: [1234] } }, {}],
  ];
  it.each(rows)('decides by %s', (_, chains, given) => {
    expect(chosen(chains, given)).toBe('first');
  });

  it('does not backtrack: a chain dropped by an earlier criterion is not considered again', () => {
    expect(chosen({ a: { ...port(80), ...names('a.com') }, any }, { sni: 'b.com' })).toBe('');
    expect(chosen({ a: { ...port(80), ...names('a.com') }, any }, { sni: 'b.com' }, true)).toBe('default');
    expect(chosen({ a: { ...to('10.0.0.0/24'), ...tls }, b: to('10.0.0.0/8') }, { to: '10.0.0.1' })).toBe('');
  });

  it('uses the default chain only if no chain matches', () => {
    expect(chosen({ a: port(80) }, { port: 80 }, true)).toBe('a');
    expect(chosen({ a: port(80) }, { port: 81 }, true)).toBe('default');
    expect(chosen({}, {})).toBe('');
  });

  it('reports two chains that match alike: Envoy refuses such a listener', () => {
    const seen = {
      local: { address: '10.0.0.1', port: 80 },
      remote: { address: '192.0.2.1', port: 1 },
      detected: { transportProtocol: 'raw_buffer', serverName: '', applicationProtocols: [], why: '' },
    } as const;
    const filterChains = [
      { name: 'a', filterChainMatch: to('10.0.0.0/8') },
      { name: 'b', filterChainMatch: to('10.0.0.0/8') },
    ];
    expect(chooseChain({ filterChains }, seen)).toMatchObject({ name: 'a', twin: 'b' });
  });
});
