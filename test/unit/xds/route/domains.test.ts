import { describe, expect, it } from 'vitest';
import { serviceDomains } from '../../../../src/xds/generate/route/domains.ts';
import { withoutDuplicates } from '../../../../src/xds/generate/route/duplicates.ts';
import { shortForms } from '../../../../src/xds/generate/route/short-forms.ts';

describe('short forms', () => {
  it.each([
    ['a.prod.svc.cluster.local', 'prod.svc.cluster.local', ['a', 'a.prod.svc', 'a.prod']],
    ['a.far.svc.cluster.local', 'prod.svc.cluster.local', ['a.far', 'a.far.svc']],
    ['pod.a.prod.svc.cluster.local', 'prod.svc.cluster.local', ['pod.a.prod', 'pod.a.prod.svc']],
    ['a.example.com', 'prod.svc.cluster.local', []],
    ['a.svc.cluster.local', 'prod.svc.cluster.local', []],
    ['a.b.example.com', 'x.example.com', ['a.b', 'a.b.example']],
    ['a.example.com', 'x.example.com', ['a']],
    ['a.b.c.example.com', 'x.example.com', ['a.b.c']],
    ['example.com', 'x.example.com', []],
    ['a.example.org', 'x.example.com', []],
  ])('of %s in %s', (host, domain, forms) => {
    expect(shortForms(host, domain)).toEqual(forms);
  });
});

const plain = {
  hostname: 'a.example.com',
  aliases: [],
  addresses: [],
  withPort: 0,
  subdomains: false,
  dnsDomain: 'prod.svc.cluster.local',
  absoluteNames: true,
};

describe('domains of a service', () => {
  it('are its names, then its addresses, with brackets where needed', () => {
    const addresses = ['10.0.0.1', 'fd00::1', '0.0.0.0', ''];
    const { domains } = serviceDomains.run({ ...plain, aliases: ['b.prod.svc.cluster.local'], addresses });
    expect(domains).toEqual([
      'a.example.com',
      'a.example.com.',
      'b.prod.svc.cluster.local',
      'b.prod.svc.cluster.local.',
      'b',
      'b.prod.svc',
      'b.prod',
      '10.0.0.1',
      '[fd00::1]',
    ]);
  });

  it('are followed by themselves with the port where ports tell services apart', () => {
    const { domains } = serviceDomains.run({ ...plain, withPort: 80, addresses: ['fd00::1'] });
    expect(domains).toEqual([
      'a.example.com',
      'a.example.com:80',
      'a.example.com.',
      'a.example.com.:80',
      '[fd00::1]',
      '[fd00::1]:80',
    ]);
  });

  it('have no trailing dot when that is switched off', () => {
    expect(serviceDomains.run({ ...plain, absoluteNames: false }).domains).toEqual(['a.example.com']);
  });
});

describe('duplicates', () => {
  const host = (
    name: string,
    domains: readonly string[],
    derived: readonly string[] = [],
  ): { name: string; domains: readonly string[]; derived: readonly string[] } => ({ name, domains, derived });
  const kept = (hosts: readonly ReturnType<typeof host>[], known: readonly string[] = []): unknown =>
    withoutDuplicates(hosts, new Set(known)).kept.map(({ candidate, domains }) => [candidate.name, domains]);

  it('of a name drop the later host as a whole', () => {
    expect(kept([host('a:80', ['a']), host('a:80', ['b'])])).toEqual([['a:80', ['a']]]);
  });

  it('of a domain, in any case, stay with the first; a host without domains is dropped', () => {
    expect(kept([host('a:80', ['a', 'X']), host('b:80', ['x', 'b']), host('c:80', ['B'])])).toEqual([
      ['a:80', ['a', 'X']],
      ['b:80', ['b']],
    ]);
  });

  it('keep a derived name for the service that is really called so', () => {
    const long = host('foo.com.cluster.local:80', ['foo.com.cluster.local', 'foo.com'], ['foo.com']);
    const real = host('foo.com:80', ['foo.com']);
    expect(kept([long, real], ['foo.com'])).toEqual([
      ['foo.com.cluster.local:80', ['foo.com.cluster.local']],
      ['foo.com:80', ['foo.com']],
    ]);
    expect(kept([long], [])).toEqual([['foo.com.cluster.local:80', ['foo.com.cluster.local', 'foo.com']]]);
  });
});
