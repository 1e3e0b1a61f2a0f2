import { describe, expect, test } from 'vitest';
import { any, anyBytes, anyStruct, emptyAny } from '../../../../src/xds/proto/any.ts';
import { verifyMessage } from '../../../../src/xds/wire/verify.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

describe('verifyMessage', () => {
  test.each<readonly [object, string]>([
    [{ nope: 1 }, 'nope: is not a field of envoy.config.cluster.v3.Cluster'],
    [{ connect_timeout: {} }, 'connect_timeout: is not a field of envoy.config.cluster.v3.Cluster'],
    [{ type: 'EDS' }, 'type: is not a number of envoy.config.cluster.v3.Cluster.DiscoveryType'],
    [{ type: 77 }, 'type: is not a number of envoy.config.cluster.v3.Cluster.DiscoveryType'],
    [{ type: 3, clusterType: {} }, 'clusterType: is set together with type of the oneof cluster_discovery_type'],
    [{ name: 5 }, 'name: is not of type string'],
    [{ connectTimeout: '5s' }, 'connectTimeout: is not a message'],
    [{ connectTimeout: { nanos: 1.5 } }, 'connectTimeout.nanos: is not of type int32'],
    [{ perConnectionBufferLimitBytes: { value: -1 } }, 'perConnectionBufferLimitBytes.value: is not of type uint32'],
    [{ healthChecks: {} }, 'healthChecks: is not a list'],
    [{ filters: [{}, null] }, 'filters[1]: is not a message'],
    [{ metadata: { filterMetadata: [] } }, 'metadata.filterMetadata: is not a map'],
    [{ metadata: { filterMetadata: { a: 'x' } } }, 'metadata.filterMetadata[a]: is not a JSON object'],
    [{ metadata: { filterMetadata: { a: { b: Number.NaN } } } }, 'metadata.filterMetadata[a][b]: is not JSON'],
    [{ transportSocket: { typedConfig: {} } }, 'transportSocket.typedConfig: has no @type'],
    [
      { transportSocket: { typedConfig: { '@type': ROUTER, nope: 1 } } },
      'transportSocket.typedConfig<envoy.extensions.filters.http.router.v3.Router>.nope: is not a field of envoy.extensions.filters.http.router.v3.Router',
    ],
    [
      { transportSocket: { typedConfig: { '@type': '', a: 1 } } },
      'transportSocket.typedConfig: has fields and an empty @type',
    ],
    [
      { transportSocket: { typedConfig: { '@type': 'x/contrib.Filter' } } },
      'transportSocket.typedConfig<contrib.Filter>: is of an unknown type and not given as bytes',
    ],
    [
      { transportSocket: { typedConfig: { '@type': 'x/google.protobuf.Struct', a: 1 } } },
      'transportSocket.typedConfig<google.protobuf.Struct>: has no `value`',
    ],
  ])('reports the problems of %j', (message, mistake) => {
    expect(verifyMessage(CLUSTER, message)).toEqual([mistake]);
  });

  test('finds every mistake of a message', () => {
    expect(verifyMessage(CLUSTER, { nope: 1, name: 2, filters: [{ name: 3 }] })).toHaveLength(3);
    expect(verifyMessage(CLUSTER, [])).toEqual(['the message is not a message']);
  });

  test('finds nothing in a valid message', () => {
    const typedConfig = any('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', { sni: 'x' });
    const message = {
      name: 'x',
      type: 3,
      connectTimeout: { seconds: 10 },
      typedExtensionProtocolOptions: {
        a: anyStruct({ b: [1, null] }),
        c: anyBytes('x/y.Z', new Uint8Array()),
        d: emptyAny,
      },
      transportSocket: { name: 'tls', typedConfig },
      altStatName: undefined,
    };
    expect(verifyMessage(CLUSTER, message)).toEqual([]);
  });
});
