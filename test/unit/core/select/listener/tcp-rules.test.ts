// Which rules of VirtualServices a TCP or TLS connection through a sidecar follows, and what their chains match.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { TcpChainPlan } from '../../../../../src/core/select/listener/outbound-chains.ts';
import { outboundListenerPlans } from '../../../../../src/core/select/listener/outbound-listeners.ts';
import { ask, type NodeOptions, world } from '../../../world.ts';
import { service, serviceEntry, sidecar, virtualService } from '../../registry/fixtures.ts';
import { plans } from './plans.ts';

const entry = (protocol: string, more: JsonObject = {}): JsonObject =>
  serviceEntry('a', {
    hosts: ['a.com'],
    ports: [{ number: 9000, name: 'p', protocol }],
    resolution: 'DNS',
    ...more,
  });
const to = (name: string): readonly JsonObject[] => [{ destination: { host: `${name}.net`, port: { number: 1 } } }];
const rule = (name: string, ...match: readonly JsonObject[]): JsonObject => ({
  ...(match.length > 0 && { match: [...match] }),
  route: [...to(name)],
});
const rules = (spec: JsonObject, name = 'v', day = 1): JsonObject =>
  virtualService(name, { hosts: ['a.com', '*.a.com'], ...spec }, { day });
const OWN = 'outbound|9000||a.com';

/** Chains of the service, with the names of the rules that they follow; `own`: none. */
const chainsOf = (parts: readonly JsonObject[], node: NodeOptions = {}): readonly string[] =>
  plans(parts, node).flatMap(([, ...chains]) =>
    chains.map(text => text.replace(OWN, 'own').replace(/outbound\|1\|\|(\w+)\.net/g, '$1')),
  );
const tcp = (...written: readonly JsonObject[]) => chainsOf([entry('TCP'), rules({ tcp: [...written] })]);
const tls = (...written: readonly JsonObject[]) => chainsOf([entry('TLS'), rules({ tls: [...written] })]);

describe('a rule holds for a connection', () => {
  const fitting: readonly [string, JsonObject, boolean][] = [
    ['of its port', { port: 9000 }, true],
    ['of any port', { port: 0 }, true],
    ['of another port', { port: 9001 }, false],
    ['in the mesh', { gateways: ['mesh'] }, true],
    ['in the mesh and at a gateway', { gateways: ['gw', 'mesh'] }, true],
    ['at a gateway', { gateways: ['gw'] }, false],
    ['from its namespace', { sourceNamespace: 'default' }, true],
    ['from any namespace', { sourceNamespace: '' }, true],
    ['from another namespace', { sourceNamespace: 'shop' }, false],
    ['from clients with its labels', { sourceLabels: { app: 'client' } }, true],
    ['from clients with other labels', { sourceLabels: { app: 'shop' } }, false],
  ];
  const node = { labels: { app: 'client' } };

  it.each(fitting)('%s: %j, of TCP', (_what, match, holds) => {
    expect(chainsOf([entry('TCP'), rules({ tcp: [rule('x', match)] })], node)).toEqual([
      `tcp > ${holds ? 'x' : 'own'}`,
    ]);
  });

  it.each(fitting)('%s: %j, of TLS', (_what, match, holds) => {
    const written = rule('x', { sniHosts: ['a.com'], ...match });
    expect(chainsOf([entry('TLS'), rules({ tls: [written] })], node)).toEqual([`tcp a.com > ${holds ? 'x' : 'own'}`]);
  });

  it('if the hosts of its VirtualService match the service', () => {
    const of = (...hosts: readonly string[]) =>
      chainsOf([entry('TCP'), virtualService('v', { hosts: [...hosts], tcp: [rule('x')] })]);
    expect(of('b.com')).toEqual(['tcp > own']);
    expect(of('b.com', 'a.com')).toEqual(['tcp > x']);
    expect(of('*.com')).toEqual(['tcp > x']);
  });

  it('if it is written for its protocol', () => {
    const both = { tcp: [rule('x')], tls: [rule('y', { sniHosts: ['a.com'] })] };
    expect(chainsOf([entry('TCP'), rules(both)])).toEqual(['tcp > x']);
    expect(chainsOf([entry('TLS'), rules(both)])).toEqual(['tcp a.com > y']);
  });
});

describe('rules of TCP', () => {
  const subnets = (...destinationSubnets: readonly string[]): JsonObject => ({ destinationSubnets });

  it('end with the first that takes every connection', () => {
    expect(tcp(rule('x'), rule('y'))).toEqual(['tcp > x']);
    expect(tcp(rule('x', { port: 9001 }), rule('y'), rule('z'))).toEqual(['tcp > y']);
    expect(tcp(rule('x', subnets('10.1.0.0/16'), { port: 9000 }), rule('y'))).toEqual(['tcp > x']);
  });

  it('of several VirtualServices follow each other', () => {
    const first = rules({ tcp: [rule('x', subnets('10.1.0.0/16'))] });
    const second = rules({ tcp: [rule('y')] }, 'w', 2);
    expect(chainsOf([entry('TCP'), first, second])).toEqual(['tcp 10.1.0.0/16 > x', 'tcp > y']);
  });

  it('with subnets have a chain of their matches that hold, beside that of the service', () => {
    const elsewhere = { ...subnets('10.3.0.0/16'), port: 9001 };
    const near = rule('x', subnets('10.1.0.0/16'), elsewhere, subnets('10.2.0.0/16'));
    expect(tcp(near)).toEqual(['tcp 10.1.0.0/16 10.2.0.0/16 > x', 'tcp > own']);
  });

  it('do not take a subnet twice', () => {
    const first = rule('x', subnets('10.1.0.0/16', '10.1.0.0/16'));
    const second = rule('y', subnets('10.1.0.0/16', '10.2.0.0/16'));
    expect(tcp(first, second)).toEqual(['tcp 10.1.0.0/16 > x', 'tcp 10.2.0.0/16 > y', 'tcp > own']);
    expect(tcp(first, rule('y', subnets('10.1.0.0/16')))).toEqual(['tcp 10.1.0.0/16 > x', 'tcp > own']);
  });

  it('for all ranges of the service leave no chain of its own, in any order', () => {
    const ranged = entry('TCP', { addresses: ['10.1.0.0/16'], resolution: 'NONE' });
    const of = (...written: readonly JsonObject[]) => chainsOf([ranged, rules({ tcp: [...written] })]);
    expect(of(rule('x', subnets('10.1.0.0/16')))).toEqual(['tcp 10.1.0.0/16 > x']);
    expect(of(rule('x', subnets('10.2.0.0/16', '10.1.0.0/16')))).toEqual(['tcp 10.2.0.0/16 10.1.0.0/16 > x']);
    expect(of(rule('x', subnets('10.2.0.0/16')), rule('y', subnets('10.1.0.0/16')))).toEqual([
      'tcp 10.2.0.0/16 > x',
      'tcp 10.1.0.0/16 > y',
    ]);
    expect(of(rule('x', subnets('10.2.0.0/16')))).toEqual(['tcp 10.2.0.0/16 > x', 'tcp 10.1.0.0/16 > own']);
    expect(of(rule('x'))).toEqual(['tcp 10.1.0.0/16 > x']);
    expect(of(rule('x', subnets('10.1.0.0/16', '10.2.0.0/16')), rule('y'))).toEqual([
      'tcp 10.1.0.0/16 10.2.0.0/16 > x',
    ]);
    expect(of(rule('x', subnets('10.2.0.0/16')), rule('y'))).toEqual(['tcp 10.2.0.0/16 > x', 'tcp 10.1.0.0/16 > y']);
  });

  it('take every connection to a port without a number, whatever their subnets', () => {
    const bind = 'unix:///tmp/a.sock';
    const egress = sidecar('s', {
      egress: [{ port: { number: 0, protocol: 'TCP', name: 'p' }, bind, hosts: ['*/*'] }],
    });
    const parts = [entry('TCP'), egress, rules({ tcp: [rule('x', subnets('10.1.0.0/16'))] })];
    expect(chainsOf(parts)).toEqual(['tcp > x']);
    const secret = [
      entry('TLS'),
      egress,
      rules({ tls: [rule('x', { sniHosts: ['a.com'], ...subnets('10.1.0.0/16') })] }),
    ];
    expect(plans(secret)).toEqual([[`${bind} 0`, expect.stringContaining('tcp')]]);
  });

  it('name their VirtualService where they take every connection', () => {
    const configs = (...written: readonly JsonObject[]) =>
      ask(world([entry('TCP'), rules({ tcp: [...written] })]), outboundListenerPlans, '').flatMap(({ chains }) =>
        chains.map(chain => (chain as TcpChainPlan).config),
      );
    expect(configs(rule('x'))).toEqual([{ namespace: 'default', name: 'v' }]);
    expect(configs(rule('x', subnets('10.1.0.0/16')))).toEqual([undefined, undefined]);
  });
});

describe('rules of TLS', () => {
  const names = (...sniHosts: readonly string[]): JsonObject => ({ sniHosts });
  const at = (subnet: string, ...sniHosts: readonly string[]): JsonObject => ({
    destinationSubnets: [subnet],
    sniHosts: [...sniHosts],
  });

  it('have a chain for each match that holds', () => {
    expect(tls(rule('x', names('a.com'), { ...names('d.a.com'), port: 9001 }, names('b.a.com')))).toEqual([
      'tcp a.com > x',
      'tcp b.a.com > x',
    ]);
  });

  it('take each name once', () => {
    expect(tls(rule('x', names('a.com', 'b.a.com')), rule('y', names('b.a.com', 'c.a.com')))).toEqual([
      'tcp a.com b.a.com > x',
      'tcp c.a.com > y',
    ]);
    expect(tls(rule('x', names('a.com')), rule('y', names('a.com')))).toEqual(['tcp a.com > x']);
  });

  it('take a name once for each set of subnets, which hold on for later matches', () => {
    expect(tls(rule('x', names('a.com')), rule('y', at('10.1.0.0/16', 'a.com')), rule('z', names('b.a.com')))).toEqual([
      'tcp a.com > x',
      'tcp a.com 10.1.0.0/16 > y',
      'tcp b.a.com 10.1.0.0/16 > z',
    ]);
  });

  it('leave no chain of the service', () => {
    expect(tls(rule('x', names('b.a.com')))).toEqual(['tcp b.a.com > x']);
    expect(chainsOf([entry('TLS')])).toEqual(['tcp a.com > own']);
  });

  it('name their VirtualService', () => {
    const state = world([entry('TLS'), rules({ tls: [rule('x', names('a.com'))] })]);
    const [plan] = ask(state, outboundListenerPlans, '');
    expect(plan?.chains[0]).toMatchObject({ config: { namespace: 'default', name: 'v' }, protocol: 'TLS' });
  });
});

describe('without a rule, TLS to a service that shares its address', () => {
  const alias = service('alias', {
    type: 'ExternalName',
    externalName: 'db.default.svc.cluster.local',
    ports: [{ name: 'tls', port: 9000 }],
  });
  const db = service('db', { ports: [{ name: 'tls', port: 9000 }] });
  const bound = sidecar('s', { egress: [{ bind: '0.0.0.0', hosts: ['*/*'] }] });

  it('is detected by the names of the service and of its aliases', () => {
    const headless = service('db', { clusterIP: 'None', ports: [{ name: 'tls', port: 9000 }] });
    expect(plans([db])).toEqual([['10.96.0.1 9000', 'tcp > outbound|9000||db']]);
    const [chain] = plans([headless, alias, bound]).flatMap(([, ...chains]) => chains);
    expect(chain?.split(' ')).toEqual([
      'tcp',
      'db.default.svc.cluster.local',
      'alias.default.svc.cluster.local',
      'alias.default.svc.cluster.local.',
      'alias',
      'alias.default.svc',
      'alias.default',
      '>',
      'outbound|9000||db',
    ]);
    const env = { PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN: 'false' };
    const [without] = plans([headless, alias, bound], {}, { settings: { env } }).flatMap(([, ...chains]) => chains);
    expect(without).not.toContain('local. ');
  });
});
