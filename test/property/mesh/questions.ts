// Questions that are worth asking of a world: hosts that it has, in all the ways in which they can be called, and some
// that it has not.

import fc from 'fast-check';
import { NAMES, NAMESPACES, PORTS } from '../../../src/testing/worlds/pools.ts';
import type { GatewayQuestion } from './gateway-model.ts';
import { GATEWAY_PORTS, OUTSIDE_HOSTS, TLS_PORTS } from './gateway-world.ts';
import type { Question } from './http-route.ts';
import { CLIENT_ADDRESS } from './predicted.ts';
import { serviceHost } from './read.ts';
import { PATHS, VALUES } from './rules.ts';
import type { Service } from './services.ts';
import type { TcpQuestion } from './tcp-model.ts';

const ELSEWHERE = '198.51.100.7';

const path = fc.constantFrom(...PATHS);
const value = fc.constantFrom(...VALUES);
const query = fc
  .option(
    value.map(text => `?p=1&q=${text}`),
    { freq: 2 },
  )
  .map(text => text ?? '');

const headers = fc.record(
  { 'x-user': value, 'x-there': value, 'x-a': value, 'x-b': value, 'x-not': value },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

/** How a client of a namespace calls a service. */
function called(service: Service, namespace: string): fc.Arbitrary<string> {
  const name = service.host.split('.')[0]!;
  const full = [service.host, service.host.toUpperCase(), `${service.host}.`, ...service.addresses.slice(0, 1)];
  const short = service.kubernetes ? [`${name}.${service.namespace}`, `${name}.${service.namespace}.svc`] : [];
  const own = service.namespace === namespace && service.kubernetes ? [name] : [];
  return fc.constantFrom(...full.filter(host => !host.startsWith('*')), ...short, ...own, 'foo.example.com');
}

const someHost = fc.oneof(
  fc.constantFrom('api.example.com', 'x.example.com', 'nowhere.example.org', 'alpha', '203.0.113.9'),
  fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMESPACES)).map(([name, ns]) => serviceHost(name, ns)),
);

const destinationOf = (service: Service, port: number): string => {
  const [address] = service.addresses;
  const found = service.ports.find(({ number }) => number === port);
  const [endpoint = ''] = found === undefined ? [] : service.endpoints(found, {});
  const [host = ''] = endpoint.split(':');
  return address ?? (/^[\d.]+$/.test(host) ? host : ELSEWHERE);
};

/** HTTP is asked of ports that speak it, if there are any. */
function portsOf({ ports }: Service): readonly number[] {
  const spoken = ports.filter(({ protocol }) => protocol === 'http' || protocol === 'auto');
  return (spoken.length > 0 ? spoken : ports).map(({ number }) => number);
}

export function httpQuestion(services: readonly Service[], namespace: string): fc.Arbitrary<Question> {
  const known =
    services.length === 0
      ? []
      : [
          {
            weight: 5,
            arbitrary: fc.constantFrom(...services).chain(service =>
              fc.record({
                authority: called(service, namespace),
                port: fc.constantFrom(...portsOf(service)),
                service: fc.constant<Service | undefined>(service),
              }),
            ),
          },
        ];
  const unknown = {
    weight: 1,
    arbitrary: fc.record({
      authority: someHost,
      port: fc.oneof(fc.constant(80), fc.constantFrom(...PORTS.map(({ port }) => port), 8080)),
      service: fc.constant<Service | undefined>(undefined),
    }),
  };
  return fc
    .record({
      to: fc.oneof(...known, unknown),
      withPort: fc.boolean(),
      path,
      query,
      headers,
      method: fc.constantFrom('GET', 'GET', 'POST'),
    })
    .map(({ to, withPort, path: asked, query: q, headers: h, method }) => ({
      destination: {
        address: to.service === undefined ? ELSEWHERE : destinationOf(to.service, to.port),
        port: to.port,
      },
      request: {
        method,
        authority: withPort ? `${to.authority}:${to.port}` : to.authority,
        path: `${asked}${q}`,
        headers: h,
      },
    }));
}

/** Connections that are not HTTP: to addresses of services, by server names, to nowhere. */
export function tcpQuestion(services: readonly Service[]): fc.Arbitrary<TcpQuestion> {
  const spoken = services.flatMap(service =>
    service.ports.flatMap(({ number, protocol }) =>
      protocol === 'http' ? [] : [{ address: destinationOf(service, number), port: number }],
    ),
  );
  const elsewhere = fc.constantFrom(5432, 443, 9000, 27_017).map(port => ({ address: ELSEWHERE, port }));
  const known = spoken.length === 0 ? [] : [{ weight: 4, arbitrary: fc.constantFrom(...spoken) }];
  const sni = fc.constantFrom('api.example.com', 'x.example.com', 'example.com', 'nowhere.example.org', '');
  return fc
    .tuple(fc.oneof(...known, { weight: 1, arbitrary: elsewhere }), fc.option(sni, { nil: undefined }))
    .map(([destination, name]) =>
      destination.port === 443 && name !== undefined ? { destination, sni: name } : { destination },
    );
}

/** Requests that come to a gateway from outside, over TLS or not; mostly to ports that it serves. */
export function gatewayQuestion(ports: readonly number[]): fc.Arbitrary<GatewayQuestion> {
  const somePort = fc.constantFrom(...GATEWAY_PORTS);
  return fc
    .record({
      port: ports.length === 0 ? somePort : fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...ports) }, somePort),
      host: fc.constantFrom(
        ...OUTSIDE_HOSTS,
        ...OUTSIDE_HOSTS,
        'API.example.com',
        'y.example.com',
        'nowhere.example.net',
      ),
      withPort: fc.boolean(),
      named: fc.nat(7).map(n => n > 0),
      path,
      query,
      headers,
      method: fc.constantFrom('GET', 'GET', 'POST'),
    })
    .map(({ port, host, withPort, named, path: asked, query: q, headers: h, method }) => ({
      destination: { address: CLIENT_ADDRESS, port },
      ...(TLS_PORTS.includes(port) ? { sni: named ? host.toLowerCase() : '' } : {}),
      request: { method, authority: withPort ? `${host}:${port}` : host, path: `${asked}${q}`, headers: h },
    }));
}
