// Domains of virtual hosts, row by row.

import { describe, expect, it } from 'vitest';
import { headersOf } from '../../../src/oracle/header-matcher.ts';
import { chooseVirtualHost } from '../../../src/oracle/virtual-host.ts';

const hosts = (...domains: readonly string[]) => domains.map(domain => ({ name: domain, domains: [domain] }));

describe('virtual hosts', () => {
  const rows: readonly (readonly [
    what: string,
    authority: string,
    domains: readonly string[],
    expected: string | undefined,
  ])[] = [
    ['exact before everything', 'a.b.com', ['*', 'a.*', '*.b.com', 'a.b.com'], 'a.b.com'],
    ['the longest suffix', 'a.b.com', ['*.com', '*.b.com', 'a.b.*'], '*.b.com'],
    ['a suffix without a dot', 'x-a.com', ['*-a.com', '*a.com', '*.com'], '*-a.com'],
    ['suffix before a longer prefix', 'aaaa.com', ['aaaa.*', '*m'], '*m'],
    ['the longest prefix', 'a.b.com', ['a.*', 'a.b.*', '*'], 'a.b.*'],
    ['a star for the rest', 'x.com', ['*', 'a.com'], '*'],
    ['nothing', 'x.com', ['a.com', '*.x.com'], undefined],
    ['no wildcard for the empty string', '.b.com', ['*.b.com'], undefined],
    ['no prefix wildcard for the empty string', 'a.', ['a.*'], undefined],
    ['any case', 'A.B.com', ['a.b.COM'], 'a.b.COM'],
    ['the port is part of the authority', 'a.com:80', ['a.com', '*'], '*'],
    ['a domain with its port', 'a.com:80', ['a.com:80', 'a.com'], 'a.com:80'],
    ['an empty authority matches nothing', '', ['*'], undefined],
  ];
  it.each(rows)('match %s', (_, authority, domains, expected) => {
    const headers = headersOf({ authority }, 'http');
    expect(chooseVirtualHost({ virtualHosts: hosts(...domains) }, headers)?.host.name).toBe(expected);
    expect(chooseVirtualHost({ virtualHosts: hosts(...[...domains].reverse()) }, headers)?.host.name).toBe(expected);
  });

  it('ignore the port of the authority if configured', () => {
    const config = { virtualHosts: hosts('a.com', '*'), ignorePortInHostMatching: true };
    expect(chooseVirtualHost(config, headersOf({ authority: 'a.com:81' }, 'http'))?.domain).toBe('a.com');
    expect(chooseVirtualHost(config, headersOf({ authority: '[fd00::1]:81' }, 'http'))?.domain).toBe('*');
  });

  it('match another header if configured', () => {
    const config = { virtualHosts: hosts('a.com', 'b.com'), vhostHeader: 'X-Host' };
    expect(
      chooseVirtualHost(config, headersOf({ authority: 'a.com', headers: { 'x-host': 'b.com' } }, 'http'))?.domain,
    ).toBe('b.com');
  });
});
