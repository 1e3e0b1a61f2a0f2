// Where services have outbound listeners, and what these listeners look at to tell them apart.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { service, serviceEntry, sidecar, slice, workloadEntry } from '../../registry/fixtures.ts';
import { plans } from './plans.ts';

const tcp = { name: 'tcp', port: 9000 };
const db = service('db', { ports: [tcp] });
const entry = (name: string, protocol: string, more: JsonObject = {}): JsonObject =>
  serviceEntry(name, {
    hosts: [`${name}.com`],
    ports: [{ number: 9000, name: 'p', protocol }],
    resolution: 'DNS',
    ...more,
  });
const egress = (...listeners: readonly JsonObject[]): JsonObject => sidecar('s', { egress: listeners });
const port = (number: number, protocol: string): JsonObject => ({ number, protocol, name: 'p' });
const places = (...args: Parameters<typeof plans>) => plans(...args).map(([at]) => at);

describe('a service has an outbound listener', () => {
  it('for TCP at its own addresses, for HTTP at every address, for UDP and as an alias none', () => {
    const udp = service('dns', { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] });
    const alias = service('alias', {
      type: 'ExternalName',
      externalName: 'db.default.svc.cluster.local',
      ports: [tcp],
    });
    const found = plans([db, udp, alias, service('web')]);
    expect(found).toEqual([
      ['0.0.0.0 80', 'http? 80'],
      ['10.96.0.1 9000', 'tcp > outbound|9000||db'],
    ]);
  });

  it('without an address at every address of the proxy, of both families', () => {
    const at = (ip: string) => places([entry('a', 'TCP')], { ip });
    expect(at('10.0.0.99')).toEqual(['0.0.0.0 9000']);
    expect(at('fd00::1')).toEqual([':: 9000']);
    expect(at('10.0.0.99,fd00::1')).toEqual(['0.0.0.0 :: 9000']);
  });

  it('at every address for ranges, with a chain for each', () => {
    const found = plans([entry('a', 'TCP', { addresses: ['10.1.0.0/16', '10.2.0.0/16'], resolution: 'NONE' })]);
    const to = '> outbound|9000||a.com';
    expect(found).toEqual([['0.0.0.0 9000', `tcp 10.1.0.0/16 ${to}`, `tcp 10.2.0.0/16 ${to}`]]);
  });

  it('by name in TLS only where its address does not tell it from others', () => {
    const addressed = entry('a', 'TLS', { addresses: ['10.7.0.1'] });
    expect(plans([addressed])).toEqual([['10.7.0.1 9000', 'tcp > outbound|9000||a.com']]);
    expect(plans([entry('a', 'TLS')])).toEqual([['0.0.0.0 9000', 'tcp a.com > outbound|9000||a.com']]);
    expect(plans([entry('a', 'TLS')], { ip: 'fd00::1' })).toEqual([[':: 9000', 'tcp a.com > outbound|9000||a.com']]);
    const range = entry('a', 'TLS', { addresses: ['10.1.0.0/16'], resolution: 'NONE' });
    expect(plans([range])).toEqual([['0.0.0.0 9000', 'tcp a.com 10.1.0.0/16 > outbound|9000||a.com']]);
    const at = (bind: string) => egress({ bind, hosts: ['*/*'] });
    expect(plans([entry('a', 'TLS'), at('127.0.0.1')])).toEqual([['127.0.0.1 9000', 'tcp > outbound|9000||a.com']]);
    expect(plans([entry('a', 'TLS'), at('0.0.0.0')])).toEqual([['0.0.0.0 9000', 'tcp a.com > outbound|9000||a.com']]);
    expect(plans([addressed, at('0.0.0.0')])).toEqual([['0.0.0.0 9000', 'tcp > outbound|9000||a.com']]);
  });

  it('by name if its host is a wildcard whose names are resolved on demand', () => {
    const bound = egress({ bind: '127.0.0.1', hosts: ['*/*'] });
    const wild = (resolution: string) =>
      plans([entry('w', 'TLS', { hosts: ['*.a.com'], resolution }), bound]).flatMap(([, ...chains]) => chains);
    expect(wild('DYNAMIC_DNS')).toEqual(['tcp *.a.com > outbound|9000||*.a.com']);
    expect(wild('NONE')).toEqual(['tcp > outbound|9000||*.a.com']);
  });
});

describe('an egress listener with a port', () => {
  const headless = [service('h', { clusterIP: 'None', ports: [tcp] }), slice('h', [{ ip: '10.2.0.1' }])];

  it('is one for all endpoints of a headless service', () => {
    expect(places([...headless, egress({ port: port(9000, 'TCP'), hosts: ['*/*'] })])).toEqual(['0.0.0.0 9000']);
    expect(places([...headless, egress({ hosts: ['*/*'] })])).not.toEqual(['0.0.0.0 9000']);
    expect(places([...headless, egress({ hosts: ['*/*'], bind: '127.0.0.1' })])).toEqual(['127.0.0.1 9000']);
  });

  it('of an HTTP proxy takes all HTTP without inspection', () => {
    const web = [service('web'), service('far', {}, { namespace: 'far', day: 2 })];
    const proxy = egress({ port: port(15_080, 'HTTP_PROXY'), bind: '0.0.0.0', hosts: ['*/*'] });
    expect(plans([...web, proxy])).toEqual([['0.0.0.0 15080', 'http 15080']]);
  });

  it('at a socket has the routes of its name', () => {
    const bind = 'unix:///tmp/a.sock';
    expect(plans([service('web'), egress({ port: port(0, 'HTTP'), bind, hosts: ['*/*'] })])).toEqual([
      [`${bind} 0`, `http ${bind}`],
    ]);
  });

  it('that a proxy without privileges opens itself has no privileged port', () => {
    const at = (number: number, captureMode: string) =>
      places(
        [
          service('web', { ports: [{ name: 'http', port: number }] }),
          egress({ port: port(number, 'HTTP'), captureMode, hosts: ['*/*'] }),
        ],
        {
          metadata: { UNPRIVILEGED_POD: 'true' },
        },
      );
    expect(at(1023, 'NONE')).toEqual([]);
    expect(at(1024, 'NONE')).toEqual(['127.0.0.1 1024']);
    expect(at(1023, 'IPTABLES')).toEqual(['0.0.0.0 1023']);
  });

  it('has no port of HTTP on which the proxy itself listens, but TCP at another address', () => {
    const at = (name: string, number: number) => places([service('web', { ports: [{ name, port: number }] })]);
    expect(at('http', 15_001)).toEqual([]);
    expect(at('http', 15_006)).toEqual([]);
    expect(at('http', 15_002)).toEqual(['0.0.0.0 15002']);
    expect(at('tcp', 15_001)).toEqual(['10.96.0.1 15001']);
  });

  it('takes the port from the catch-all after it, whatever that has there', () => {
    const own = { port: port(80, 'HTTP'), bind: '0.0.0.0', hosts: ['./web.default.svc.cluster.local'] };
    const other = service('other', { ports: [{ name: 'tcp', port: 80 }] });
    const raw = serviceEntry('raw', {
      hosts: ['raw.com'],
      ports: [{ number: 80, name: 'p', protocol: 'TCP' }],
      resolution: 'DNS',
    });
    const found = plans([service('web'), other, raw, egress(own, { hosts: ['*/*'] })]);
    expect(found).toEqual([
      ['0.0.0.0 80', 'http? 80'],
      ['10.96.0.1 80', 'tcp > outbound|80||other'],
    ]);
  });
});

describe('endpoints of a headless service', () => {
  const selecting = serviceEntry('vm', {
    hosts: ['vm.com'],
    ports: [{ number: 9000, name: 'p', protocol: 'TCP' }],
    resolution: 'NONE',
    workloadSelector: { labels: { app: 'vm' } },
  });
  const machine = (name: string, address: string): JsonObject =>
    workloadEntry(name, { address, labels: { app: 'vm' } });

  it('have listeners where they have an address, and it is not the own one of the proxy', () => {
    const machines = [machine('a', '10.2.0.2'), machine('b', 'vm.example.com'), machine('c', '10.2.0.1')];
    expect(places([selecting, ...machines])).toEqual(['10.2.0.1 9000', '10.2.0.2 9000']);
    expect(places([selecting, ...machines], { ip: '10.2.0.1' })).toEqual(['10.2.0.2 9000']);
  });

  it('have none while nothing is selected; a plain ServiceEntry without endpoints has one at every address', () => {
    expect(places([selecting])).toEqual([]);
    expect(places([entry('plain', 'TCP', { resolution: 'NONE' })])).toEqual(['0.0.0.0 9000']);
  });
});

describe('a headless service', () => {
  const labels = { app: 'h' };
  const headless = service('h', { clusterIP: 'None', ports: [tcp] });
  const of = (...ips: readonly string[]): readonly JsonObject[] => [
    headless,
    {
      ...slice(
        'h',
        ips.map(ip => ({ ip })),
      ),
      ports: [{ name: 'tcp', port: 9000, protocol: 'TCP' }],
    },
  ];
  const own = { name: 'h-1', ip: '10.2.0.1', labels };

  it('has a listener for each endpoint, but none at the address of the proxy itself', () => {
    expect(places(of('10.2.0.2', '10.2.0.1'))).toEqual(['10.2.0.1 9000', '10.2.0.2 9000']);
    expect(places(of('10.2.0.2', '10.2.0.1'), own)).toEqual(['10.2.0.2 9000']);
    expect(places(of('10.2.0.1'), own)).toEqual([]);
    expect(places([headless])).toEqual([]);
  });

  it('is one of no addresses whose endpoints the client finds itself: others have their own address', () => {
    const ranged = entry('r', 'TCP', { addresses: ['10.7.0.1'], resolution: 'NONE' });
    const endpoints = [{ address: '10.3.0.1' }];
    const named = entry('n', 'TCP', { resolution: 'STATIC', endpoints });
    expect(places([ranged])).toEqual(['10.7.0.1 9000']);
    expect(places([named])).toEqual(['0.0.0.0 9000']);
  });
});
