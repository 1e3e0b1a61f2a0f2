// Which listeners a proxyless gRPC program is given for the names that it asks for.

import { describe, expect, it } from 'vitest';
import {
  proxylessClientListeners,
  proxylessServerListeners,
} from '../../../../../src/core/select/listener/proxyless.ts';
import {
  joinHostPort,
  SERVER_LISTENER_PREFIX,
  splitHostPort,
  wantedListeners,
} from '../../../../../src/core/select/listener/proxyless-names.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { peerAuthentication, pod, service, slice } from '../../registry/fixtures.ts';
import { reading } from './plans.ts';

const WEB = 'web.shop.svc.cluster.local';
const place = { namespace: 'shop', dnsDomain: 'shop.svc.cluster.local' };

/** `HOST = SPELLINGS : PORTS`, `*` for all ports. */
function wanted(...names: readonly string[]): readonly string[] {
  return [...(wantedListeners(names, place).hosts ?? [])].map(
    ([host, { spellings, ports }]) =>
      `${host} = ${spellings.join(' ')} : ${ports === undefined ? '*' : [...ports].join(' ')}`,
  );
}

describe('a name of a listener', () => {
  it('is a host with or without a port', () => {
    expect(wanted('a.com')).toEqual(['a.com = a.com : *']);
    expect(wanted('a.com:80', 'a.com:81')).toEqual(['a.com = a.com : 80 81']);
    expect(wanted('a.com:80', 'a.com')).toEqual(['a.com = a.com : *']);
    expect(wanted('a.com', 'a.com:80')).toEqual(['a.com = a.com : *']);
  });

  it('without a dot, or in the own namespace, stands for the full name too', () => {
    expect(wanted('web:80')).toEqual(['web = web : 80', `${WEB} = web : 80`]);
    expect(wanted('web.shop:80')).toEqual(['web.shop = web.shop : 80', `${WEB} = web.shop : 80`]);
    expect(wanted('web.shop.svc:80')).toEqual(['web.shop.svc = web.shop.svc : 80', `${WEB} = web.shop.svc : 80`]);
    expect(wanted(`${WEB}:80`)).toEqual([`${WEB} = ${WEB} : 80`]);
    expect(wanted('web.far:80')).toEqual(['web.far = web.far : 80']);
    expect(wanted('webshop.x')).toEqual(['webshop.x = webshop.x : *']);
  });

  it('is in full only if the domain begins with the namespace', () => {
    const elsewhere = { namespace: 'shop', dnsDomain: 'far.svc.cluster.local' };
    expect([...(wantedListeners(['web.shop'], elsewhere).hosts?.keys() ?? [])]).toEqual(['web.shop']);
  });

  it('shares the ports of all spellings of its host', () => {
    expect(wanted('web:80', 'web.shop:81')).toContain(`${WEB} = web web.shop : 80 81`);
    expect(wanted('web.shop:81', 'web:80')).toContain(`${WEB} = web web.shop : 81 80`);
    expect(wanted('web', 'web.shop:81')).toContain(`${WEB} = web web.shop : *`);
  });

  it('is of a server with its prefix', () => {
    const server = `${SERVER_LISTENER_PREFIX}0.0.0.0:8080`;
    expect(wantedListeners([server, 'a.com'], place)).toEqual({
      hosts: new Map([['a.com', { spellings: ['a.com'], ports: undefined }]]),
      servers: [server],
    });
    expect(wantedListeners([server], place).hosts).toEqual(new Map());
    expect(wantedListeners([], place)).toEqual({ hosts: undefined, servers: [] });
  });

  it.each([
    ['a:80', 'a', '80'],
    ['[::1]:80', '::1', '80'],
    [':80', '', '80'],
    ['a:', 'a', ''],
    ['[]:1', '', '1'],
  ])('%s is split into host and port', (text, host, port) => {
    expect(splitHostPort(text)).toEqual({ host, port });
  });

  it.each(['a', '::1', '[::1]', 'a:b:1', '[a]b:1', 'x[::1]:80', '[::1]:80:1', '[[::1]]:80'])(
    '%s is no host and port',
    text => {
      expect(splitHostPort(text)).toBeUndefined();
    },
  );

  it('has brackets around an address of IPv6', () => {
    expect([joinHostPort('::1', 80), joinHostPort('a', 80)]).toEqual(['[::1]:80', 'a:80']);
  });
});

const node: NodeOptions = { namespace: 'shop', name: 'web-1', labels: { app: 'web' } };
const IP = '10.0.0.99';
const web = service(
  'web',
  {
    ports: [
      { name: 'grpc', port: 80, targetPort: 8080 },
      { name: 'b', port: 81 },
    ],
  },
  {
    namespace: 'shop',
  },
);

describe('a client', () => {
  const clientOf = (
    names: readonly string[],
    parts: readonly WorldPart[] = [web],
    more: NodeOptions = {},
    env: Readonly<Record<string, string>> = {},
  ) =>
    ask(
      world(parts, { settings: { env } }),
      reading('test/clients', reader => proxylessClientListeners(reader, names)),
      '',
      proxyOf(nodeOf({ ...node, ...more })),
    );
  const named = (...names: readonly string[]) => clientOf(names).map(({ name }) => name);

  it('that names nothing has every port of every service', () => {
    expect(named()).toEqual([`${WEB}:80`, `${WEB}:81`]);
  });

  it('has the ports that it names, under each spelling', () => {
    expect(named('web:80', `${WEB}:81`)).toEqual(['web:80', 'web:81', `${WEB}:80`, `${WEB}:81`]);
    expect(named('web:81')).toEqual(['web:81']);
    expect(named('web:82', 'far:80')).toEqual([]);
  });

  it('has the address of the service and its route', () => {
    expect(clientOf(['web:80'])).toEqual([
      {
        name: 'web:80',
        address: '10.96.0.1',
        moreAddresses: [],
        port: 80,
        routeName: `outbound|80||${WEB}`,
        session: '',
      },
    ]);
  });

  it('of both address families has the further addresses', () => {
    const dual = service('web', { clusterIPs: ['10.96.0.1', 'fd00:10::1'] }, { namespace: 'shop' });
    const addresses = (ip: string) =>
      clientOf(['web:80'], [dual], { ip }, { ISTIO_DUAL_STACK: 'true' }).map(({ address, moreAddresses }) => [
        address,
        ...moreAddresses,
      ]);
    expect(addresses(IP)).toEqual([['10.96.0.1']]);
    expect(addresses(`${IP},fd00::1`)).toEqual([['10.96.0.1', 'fd00:10::1']]);
  });
});

describe('a server', () => {
  const name = (at: string): string => `${SERVER_LISTENER_PREFIX}${at}`;
  const labels = { app: 'web' };
  const parts = [
    web,
    pod('web-1', IP, { namespace: 'shop', labels }),
    { ...slice('web', [{ ip: IP, pod: 'web-1' }], { namespace: 'shop' }), ports: [{ name: 'grpc', port: 8080 }] },
  ];
  const serverOf = (names: readonly string[], more: readonly WorldPart[] = [], options: NodeOptions = {}) =>
    ask(
      world([...parts, ...more]),
      reading('test/servers', reader => proxylessServerListeners(reader, names)),
      '',
      proxyOf(nodeOf({ ...node, ...options })),
    );

  it('listens on a target port of its workload, at the address that it names', () => {
    expect(serverOf([name('0.0.0.0:8080'), 'a.com'])).toMatchObject([
      { name: name('0.0.0.0:8080'), address: '0.0.0.0', moreAddresses: [], port: 8080, mtls: false },
    ]);
    expect(serverOf([name('[::]:8080')])).toMatchObject([{ address: '::', port: 8080 }]);
    expect(serverOf(['0.0.0.0:8080'])).toEqual([]);
  });

  it.each(['0.0.0.0:9090', '0.0.0.0:', '0.0.0.0', '0.0.0.0:0', '0.0.0.0:x8080', '0.0.0.0:8080x', '0.0.0.0:008080'])(
    'has no listener at %s',
    at => {
      expect(serverOf([name(at)])).toEqual([]);
    },
  );

  it('demands mTLS if that is strict, or if it is permissive and the label of its workload says so', () => {
    const mtls = (mode: string | undefined, tlsMode?: string) => {
      const policy = mode === undefined ? [] : [peerAuthentication('p', { mtls: { mode } }, { namespace: 'shop' })];
      const own = tlsMode === undefined ? labels : { ...labels, 'security.istio.io/tlsMode': tlsMode };
      const replaced = pod('web-1', IP, { namespace: 'shop', labels: own });
      return serverOf([name('0.0.0.0:8080')], [replaced, ...policy], { labels: own })[0]?.mtls;
    };
    expect(mtls('STRICT')).toBe(true);
    expect(mtls('DISABLE', 'istio')).toBe(false);
    expect(mtls(undefined)).toBe(false);
    expect(mtls('PERMISSIVE', 'istio')).toBe(true);
    expect(mtls('PERMISSIVE', 'disabled')).toBe(false);
  });
});
