import { describe, expect, it } from 'vitest';
import type { Service } from '../../../../../src/core/model/service.ts';
import type { AddressView } from '../../../../../src/core/select/nametable/service-addresses.ts';
import { type DomainsInputs, relevantDomain } from '../../../../../src/core/select/route/domains.ts';
import { shortForms } from '../../../../../src/core/select/route/short-forms.ts';
import { type Claim, domainsOf as domainsFor } from '../../../../../src/xds/generate/route/domains.ts';
import {
  type ClaimBlock,
  claimBlock,
  mergedClaims,
  serviceNames,
  withoutDuplicates,
} from '../../../../../src/xds/generate/route/duplicates.ts';

describe('short forms of a host', () => {
  it.each([
    ['a.prod.svc.cluster.local', 'prod.svc.cluster.local', ['a', 'a.prod.svc', 'a.prod']],
    ['a.far.svc.cluster.local', 'prod.svc.cluster.local', ['a.far', 'a.far.svc']],
    ['pod.a.prod.svc.cluster.local', 'prod.svc.cluster.local', ['pod.a.prod', 'pod.a.prod.svc']],
    ['a.example.com', 'prod.svc.cluster.local', []],
    ['a.very.long.name.example.com', 'prod.svc.cluster.local', []],
    ['a.svc.cluster.local', 'prod.svc.cluster.local', []],
    ['a.b.example.com', 'x.example.com', ['a.b', 'a.b.example']],
    ['a.example.com', 'x.example.com', ['a']],
    ['a.b.c.example.com', 'x.example.com', ['a.b.c']],
    ['example.com', 'x.example.com', []],
    ['example.com', 'example.com', []],
    ['a.example.com', 'example.com', ['a']],
    ['a.example.org', 'x.example.com', []],
  ])('of %s are, seen from %s, those of Kubernetes DNS', (host, domain, forms) => {
    expect(shortForms(host, domain)).toEqual(forms);
  });
});

const base: Service = {
  hostname: 'a.example.com',
  namespace: 'prod',
  name: 'a.example.com',
  objectName: 'a',
  registry: 'External',
  ports: [{ name: 'http', port: 80, protocol: 'HTTP' }],
  resolution: 'ClientSideLB',
  meshExternal: true,
  defaultAddress: '0.0.0.0',
  clusterVips: {},
  labels: {},
  selector: {},
  exportTo: ['*'],
  creationTime: 0,
  serviceAccounts: [],
  aliases: [],
  externalAddresses: {},
  trafficDistribution: 'Any',
  nodeLocal: false,
  publishNotReadyAddresses: false,
  raceFirstTcpConnect: false,
  passthroughTargetPorts: {},
};
const view: AddressView = { cluster: 'Kubernetes', ipMode: 'dual', bothFamilies: true, autoAllocated: false };

function domainsOf(service: Partial<Service>, more: Partial<DomainsInputs> = {}): readonly string[] {
  const dnsDomain = 'prod.svc.cluster.local';
  const cut = (more.withPort ?? 0) === 0;
  const inputs: DomainsInputs = {
    service: { ...base, ...service },
    view,
    withPort: 0,
    frozen: cut,
    dnsDomain,
    absoluteNames: true,
    ...more,
  };
  return domainsFor(inputs).domains;
}

describe('domains of a service', () => {
  it('depend only on the relevant part of the DNS domain, shared by all namespaces but their own', () => {
    const hosts = [
      'a.prod.svc.cluster.local',
      'a.far.svc.cluster.local',
      'a..svc.cluster.local',
      'x.a.prod.svc.cluster.local',
      'a.b',
    ];
    for (const dnsDomain of ['prod.svc.cluster.local', 'far.svc.cluster.local', '.svc.cluster.local', 'x.b', '']) {
      for (const hostname of hosts) {
        for (const alias of hosts) {
          const service = { ...base, hostname, aliases: [{ hostname: alias, namespace: 'prod' }] };
          const cut = relevantDomain(service, dnsDomain);
          expect(domainsOf(service, { dnsDomain: cut }), `${hostname} ${dnsDomain}`).toEqual(
            domainsOf(service, { dnsDomain }),
          );
        }
      }
    }
    const service = { ...base, hostname: 'a.prod.svc.cluster.local' };
    expect(relevantDomain(service, 'x.svc.cluster.local')).toBe(relevantDomain(service, 'y.svc.cluster.local'));
    expect(relevantDomain(service, 'prod.svc.cluster.local')).toBe('prod.svc.cluster.local');
    expect(relevantDomain(service, 'vm.example.com')).toBe('vm.example.com');
  });

  it('are its names, then its addresses, with brackets for IPv6', () => {
    const aliases = [{ hostname: 'b.prod.svc.cluster.local', namespace: 'prod' }];
    expect(domainsOf({ aliases, clusterVips: { Kubernetes: ['10.0.0.1', 'fd00::1'] } })).toEqual([
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

  it('are followed by the forms with port where ports distinguish services', () => {
    expect(domainsOf({ defaultAddress: 'fd00::1' }, { withPort: 80 })).toEqual([
      'a.example.com',
      'a.example.com:80',
      'a.example.com.',
      'a.example.com.:80',
      '[fd00::1]',
      '[fd00::1]:80',
    ]);
  });

  it('have no trailing dot if that is switched off', () => {
    expect(domainsOf({}, { absoluteNames: false })).toEqual(['a.example.com']);
  });
});

describe('duplicate domains', () => {
  const host = (name: string, domains: readonly string[], derived: readonly string[] = []): Claim => ({
    name,
    port: 80,
    domains,
    derived,
    hostname: undefined,
  });
  const service = (hostname: string): Claim => ({ ...host(`${hostname}:80`, [hostname]), hostname });
  /** In one run, and in blocks of one claim each. */
  const kept = (...claims: readonly Claim[]): unknown => {
    const whole = withoutDuplicates.run({ claims });
    const services = serviceNames.run({ claims });
    const blocks: ClaimBlock[] = [];
    for (const [from, claim] of claims.entries())
      blocks.push(claimBlock.run({ claims: [claim], from, services, before: [...blocks] }));
    expect(mergedClaims.run({ blocks })).toEqual({ kept: whole.kept, problems: whole.problems });
    return whole.kept.map(({ claim, domains }) => [claim.name, domains]);
  };

  it('are reported by name with their position', () => {
    const { kept: hosts } = withoutDuplicates.run({
      claims: [host('b:80', ['b']), host('c:80', ['b']), host('a:80', ['a'])],
    });
    expect(hosts.map(({ claim, place }) => [claim.name, place])).toEqual([
      ['a:80', 2],
      ['b:80', 0],
    ]);
  });

  it('of a virtual host name drop the later host as a whole', () => {
    expect(kept(host('a:80', ['a']), host('a:80', ['b']))).toEqual([['a:80', ['a']]]);
  });

  it('stay with the first in any case; a host without domains is dropped', () => {
    expect(kept(host('a:80', ['a', 'X']), host('b:80', ['x', 'b']), host('c:80', ['B']))).toEqual([
      ['a:80', ['a', 'X']],
      ['b:80', ['b']],
    ]);
  });

  it('leave a derived name to the service that has it as host', () => {
    const long = host('foo.com.cluster.local:80', ['foo.com.cluster.local', 'foo.com'], ['foo.com']);
    expect(kept(long, service('foo.com'))).toEqual([
      ['foo.com.cluster.local:80', ['foo.com.cluster.local']],
      ['foo.com:80', ['foo.com']],
    ]);
    expect(kept(long)).toEqual([['foo.com.cluster.local:80', ['foo.com.cluster.local', 'foo.com']]]);
  });
});
