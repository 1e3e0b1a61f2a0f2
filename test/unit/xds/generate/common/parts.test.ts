// Small parts that resources of several types share.

import { describe, expect, it } from 'vitest';
import { additionalLabels } from '../../../../../src/xds/generate/common/additional-labels.ts';
import { durationOf, durationOfMs } from '../../../../../src/xds/generate/common/duration.ts';
import { pickerConfig } from '../../../../../src/xds/generate/common/endpoint-picker.ts';
import {
  internalAddress,
  internalSocket,
  rawBuffer,
} from '../../../../../src/xds/generate/common/internal-upstream.ts';
import { providerInstanceTls } from '../../../../../src/xds/generate/common/provider-instance-tls.ts';
import { quoteRegex } from '../../../../../src/xds/generate/common/quote-regex.ts';
import {
  endpointNames,
  endpointsOf,
  extensionNames,
  routeNames,
  watchedNames,
} from '../../../../../src/xds/generate/common/watched-names.ts';
import { Cluster_DiscoveryType, type Listener } from '../../../../../src/xds/proto/types.gen.ts';

describe('the names that a proxy subscribes to', () => {
  const ads = { ads: {}, resourceApiVersion: 2 };
  const listenerWith = (...parts: readonly object[]): Listener => ({ filterChains: [{ filters: parts }] }) as Listener;

  it('are the routes, secrets and extensions that a listener refers to, each once, wherever they stand', () => {
    const listener = listenerWith(
      { name: 'hcm', typedConfig: { rds: { routeConfigName: 'b', configSource: ads } } },
      { name: 'hcm', typedConfig: { rds: { routeConfigName: 'a' }, more: { rds: { routeConfigName: 'b' } } } },
      {
        name: 'tls',
        typedConfig: {
          secrets: [
            { name: 's', sdsConfig: ads },
            { name: 's', sdsConfig: ads },
          ],
        },
      },
      { name: 'e', configDiscovery: { configSource: ads } },
      { name: 'e', configDiscovery: { configSource: ads } },
    );
    expect(watchedNames(listener)).toEqual({ endpoints: [], routes: ['b', 'a'], secrets: ['s'], extensions: ['e'] });
  });

  it('are only those of this stream, and only names', () => {
    const listener = listenerWith(
      { name: 'of-an-agent', sdsConfig: { apiConfigSource: {} } },
      { sdsConfig: ads },
      { name: 5, sdsConfig: ads },
      { configDiscovery: {} },
      { rds: {} },
      { rds: { routeConfigName: 7 } },
      { rds: 'text', sdsConfig: 'text', configDiscovery: 'text', name: 'n', none: null, text: 'rds' },
    );
    expect(watchedNames(listener)).toEqual({ endpoints: [], routes: [], secrets: [], extensions: [] });
  });

  it('are not looked for again in a large map that several messages share', () => {
    let walks = 0;
    const texts = new Proxy(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`t${i}`, 'v'])), {
      ownKeys: target => {
        walks++;
        return Reflect.ownKeys(target);
      },
    });
    for (const name of ['a', 'b', 'c']) {
      const listener = listenerWith({ typedConfig: { dimensions: texts, rds: { routeConfigName: name } } });
      expect(watchedNames(listener).routes).toEqual([name]);
    }
    expect(walks).toBe(1);
  });

  it('are found once for a message, which never changes', () => {
    const listener = listenerWith({ name: 'e', configDiscovery: {} });
    expect(watchedNames(listener)).toBe(watchedNames(listener));
  });

  it('of all listeners are sorted, each once', () => {
    const of = (name: string) =>
      listenerWith({ rds: { routeConfigName: name } }, { name: `e-${name}`, configDiscovery: {} });
    const all = [of('b'), of('a'), of('b')];
    expect(routeNames(all)).toEqual(['a', 'b']);
    expect(extensionNames(all)).toEqual(['e-a', 'e-b']);
  });

  it('of a cluster are its own name, or the one that it has for EDS, and none of another type', () => {
    const type = Cluster_DiscoveryType.EDS;
    expect(endpointsOf({ type, name: 'c', edsClusterConfig: { serviceName: 's' } })).toEqual(['s']);
    expect(endpointsOf({ type, name: 'c', edsClusterConfig: {} })).toEqual(['c']);
    expect(endpointsOf({ type, name: 'c' })).toEqual(['c']);
    expect(endpointsOf({ type })).toEqual(['']);
    expect(endpointsOf({ type: Cluster_DiscoveryType.STATIC, name: 'c' })).toEqual([]);
    const twice = ['b', 'a', 'b'].map(name => ({ type, name }));
    expect(endpointNames(twice)).toEqual(['a', 'b']);
    expect(watchedNames(twice[0]!).endpoints).toEqual(['b']);
  });
});

describe('a duration', () => {
  it.each<[unknown, object | undefined]>([
    ['1m30s', { seconds: 90, nanos: 0 }],
    ['nothing', undefined],
    [
      { seconds: 3, nanos: 4 },
      { seconds: 3, nanos: 4 },
    ],
    [{ seconds: 3 }, { seconds: 3, nanos: 0 }],
    [{ nanos: 4 }, { seconds: 0, nanos: 4 }],
    [
      { seconds: '3', nanos: '4' },
      { seconds: 0, nanos: 0 },
    ],
    [null, undefined],
    [undefined, undefined],
    [7, undefined],
  ])('of %j is %j', (value, expected) => {
    expect(durationOf(value)).toEqual(expected);
  });

  it('of milliseconds has what is beyond whole seconds in nanoseconds', () => {
    expect(durationOfMs(2_300)).toEqual({ seconds: 2, nanos: 300_000_000 });
    expect(durationOfMs(0)).toEqual({ seconds: 0, nanos: 0 });
  });
});

it('labels that metadata exchange tells are sorted, each once, and absent if there are none', () => {
  expect(additionalLabels('b,a,b')).toEqual({ additional_labels: ['a', 'b'] });
  expect(additionalLabels('')).toEqual({});
});

it('a route with an endpoint picker makes the filter read all of a request, from the picker’s cluster', () => {
  const config = (failOpen: boolean) => pickerConfig({ host: 'picker.shop', port: 9002, failOpen });
  expect(config(true)).toEqual({
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute',
    overrides: {
      failureModeAllow: { value: true },
      grpcService: { envoyGrpc: { clusterName: 'outbound|9002||picker.shop' } },
      processingMode: {
        requestHeaderMode: 1,
        responseHeaderMode: 1,
        requestBodyMode: 4,
        responseBodyMode: 4,
        requestTrailerMode: 1,
        responseTrailerMode: 1,
      },
    },
  });
  expect(config(false)).toMatchObject({ overrides: { failureModeAllow: { value: false } } });
});

it('the socket to an internal listener wraps the inner one, and hands on the metadata that it is given', () => {
  const inner = rawBuffer('plain');
  const type = 'type.googleapis.com/envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport';
  expect(internalSocket('outer', inner)).toEqual({
    name: 'outer',
    typedConfig: { '@type': type, transportSocket: inner },
  });
  const passed = [{ kind: { host: {} }, name: 'istio' }];
  expect(internalSocket('outer', inner, passed).typedConfig).toMatchObject({ passthroughMetadata: passed });
  expect(internalAddress('main', 'e')).toEqual({
    envoyInternalAddress: { serverListenerName: 'main', endpointId: 'e' },
  });
});

it('the TLS of a gRPC program names the identities of its peer, if any are known', () => {
  const validation = (identities: readonly string[]) =>
    providerInstanceTls(identities).combinedValidationContext?.defaultValidationContext;
  const roots = { caCertificateProviderInstance: { instanceName: 'default', certificateName: 'ROOTCA' } };
  expect(validation([])).toEqual(roots);
  expect(validation(['a'])).toEqual({ ...roots, matchSubjectAltNames: [{ exact: 'a' }] });
});

it('text in a regular expression stands for itself', () => {
  expect(quoteRegex('a.b*c/d-e')).toBe('a\\.b\\*c/d-e');
});
