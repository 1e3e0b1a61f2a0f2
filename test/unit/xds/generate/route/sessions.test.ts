// Where the filter of persistent sessions keeps a client at one endpoint, by labels of services.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio, routerNode, Scene, service, sidecarNode } from './scene.ts';

const FILTER = 'envoy.filters.http.stateful_session';
const COOKIE = { 'istio.io/persistent-session': 'sticky' };
const HEADER = { 'istio.io/persistent-session-header': 'x-session' };
const ON = { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true' };

const labelled = (name: string, labels: JsonObject): JsonObject =>
  service(name, 'prod', { clusterIP: '10.9.0.1', ports: [{ name: 'http', port: 80 }] }, { labels });
const services = [labelled('cookie', COOKIE), labelled('header', HEADER), labelled('plain', {})];

/** What carries the session in the settings of a virtual host or route; undefined: no session is kept. */
function carrierOf(configs: Readonly<Record<string, unknown>> | undefined): unknown {
  interface State {
    readonly cookie?: { readonly name: string; readonly path: string };
    readonly name?: string;
  }
  const config = configs?.[FILTER] as
    | { readonly statefulSession: { readonly sessionState: { readonly name: string; readonly typedConfig: State } } }
    | undefined;
  if (config === undefined) return undefined;
  const { name, typedConfig } = config.statefulSession.sessionState;
  return [name, typedConfig.cookie ?? typedConfig.name];
}
const BY_COOKIE = ['envoy.http.stateful_session.cookie', { name: 'sticky', path: '/' }];
const BY_HEADER = ['envoy.http.stateful_session.header', 'x-session'];

function scene(objects: readonly JsonObject[], env: Readonly<Record<string, string>> = ON): Scene {
  const made = new Scene([...services, ...objects], { env });
  made.connect('client', sidecarNode('prod'));
  made.connect('gw', routerNode('prod'));
  return made;
}

describe('the session of a service', () => {
  it.each([
    ['cookie', BY_COOKIE],
    ['header', BY_HEADER],
    ['plain', undefined],
  ])('%s is carried by %j', (name, expected) => {
    const host = `${name}.prod.svc.cluster.local:80`;
    expect(carrierOf(scene([]).host('client', '80', host).typedPerFilterConfig)).toEqual(expected);
    expect(carrierOf(scene([], {}).host('client', '80', host).typedPerFilterConfig)).toBeUndefined();
  });
});

describe('the session of a route', () => {
  const to = (host: string, weight?: number): JsonObject => ({ destination: { host }, ...(weight && { weight }) });
  const carrier = (rule: JsonObject, env = ON): unknown => {
    const virtualService = istio('VirtualService', 'prod', 'v', { hosts: ['shop.example.com'], http: [rule] });
    const [route] = scene([virtualService], env).routes('client', '80', 'shop.example.com:80');
    return carrierOf(route?.typedPerFilterConfig);
  };

  it.each<[string, JsonObject, unknown]>([
    ['its destination', { route: [to('header')] }, BY_HEADER],
    ['a destination without one', { route: [to('plain')] }, undefined],
    ['the first of two that have one', { route: [to('cookie', 50), to('header', 50)] }, BY_COOKIE],
    ['the last that has one after one without', { route: [to('plain', 50), to('header', 50)] }, BY_HEADER],
    ['none that a later one without replaces', { route: [to('cookie', 50), to('plain', 50)] }, undefined],
    ['none that gets no requests', { route: [to('cookie'), to('header', 100)] }, BY_HEADER],
    [
      'its destination, beside a fault',
      { route: [to('cookie')], fault: { abort: { httpStatus: 500, percentage: { value: 1 } } } },
      BY_COOKIE,
    ],
    ['none, since it redirects', { redirect: { authority: 'other.example.com' } }, undefined],
    ['none, since it answers', { directResponse: { status: 200 } }, undefined],
  ])('is that of %s', (_what, rule, expected) => {
    expect(carrier(rule)).toEqual(expected);
  });

  it('is kept only with the flag', () => {
    expect(carrier({ route: [to('cookie')] }, {} as typeof ON)).toBeUndefined();
  });
});

describe('the session of a host of a gateway', () => {
  const cookieHost = 'cookie.prod.svc.cluster.local';
  const made = (
    destination: string,
    labels: JsonObject,
    exportTo = '*',
    env: Readonly<Record<string, string>> = ON,
    more: readonly JsonObject[] = [],
  ): Scene =>
    scene(
      [
        istio('Gateway', 'prod', 'gw', {
          selector: { istio: 'ingressgateway' },
          servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
        }),
        istio('VirtualService', 'prod', 'v', {
          hosts: [cookieHost],
          gateways: ['gw'],
          http: [...more, { route: [{ destination: { host: destination } }] }],
        }),
        service(
          'cookie',
          'prod',
          { clusterIP: '10.9.0.1', ports: [{ name: 'http', port: 80 }] },
          { labels, annotations: { 'networking.istio.io/exportTo': exportTo } },
        ),
      ],
      env,
    );
  const carrier = (...args: Parameters<typeof made>): unknown =>
    carrierOf(made(...args).host('gw', 'http.80', `${cookieHost}:80`).typedPerFilterConfig);

  it('is that of the service with its name, if the VirtualService leads to it', () => {
    expect(carrier('cookie', COOKIE)).toEqual(BY_COOKIE);
    expect(carrier('cookie', HEADER)).toEqual(BY_HEADER);
    expect(carrier('cookie', {})).toBeUndefined();
    expect(carrier('plain', COOKIE)).toBeUndefined();
    expect(carrier('cookie', COOKIE, '*', {})).toBeUndefined();
    const beside = { match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'plain' } }] };
    expect(carrier('cookie', COOKIE, '*', ON, [beside])).toEqual(BY_COOKIE);
  });

  it('is that of the destination at its routes', () => {
    const routes = made('header', COOKIE).routes('gw', 'http.80', `${cookieHost}:80`);
    expect(routes.map(({ typedPerFilterConfig }) => carrierOf(typedPerFilterConfig))).toEqual([BY_HEADER]);
  });

  it('needs a service that the gateway may see', () => {
    expect(carrier('cookie', COOKIE, '.')).toEqual(BY_COOKIE);
    expect(carrier('cookie', COOKIE, 'other')).toBeUndefined();
  });
});
