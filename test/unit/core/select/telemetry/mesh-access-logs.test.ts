// What the logs of the mesh's own settings and of each type of provider write, and where.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import {
  type AccessLogSpec,
  accessLogs,
  allPeerStateNames,
  listenersLog,
} from '../../../../../src/core/select/telemetry/access-logs.ts';
import { ask, withObjects } from '../../../world.ts';
import { type Levels, proxy, withLevels } from './levels.ts';

const COLLECTOR = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'als', namespace: 'obs' },
  spec: { clusterIP: '10.96.0.9', ports: [{ name: 'grpc', port: 9000 }] },
};
const HOST = 'als.obs.svc.cluster.local';
const CLUSTER = `outbound|9000||${HOST}`;

const logs = (mesh: JsonObject, levels: Levels = {}): readonly AccessLogSpec[] =>
  ask(withObjects(withLevels(levels, mesh), COLLECTOR), accessLogs, 'outbound', proxy);
/** The logs of one provider, which is the default of the mesh. */
const ofProvider = (provider: JsonObject, mesh: JsonObject = {}): readonly AccessLogSpec[] =>
  logs({ ...mesh, extensionProviders: [{ name: 'p', ...provider }], defaultProviders: { accessLogging: ['p'] } });
const file = (path: string, format: unknown, omitEmptyValues = false) => [
  { kind: 'file', path, format, omitEmptyValues },
];
const text = (value: string) => ({ kind: 'text', text: value });
const json = (labels?: JsonObject) => ({ kind: 'json', labels });

describe('without a provider, access logs', () => {
  it('are those of the settings of the mesh: a file, a service, both or none', () => {
    expect(logs({})).toEqual([]);
    expect(logs({ accessLogFile: '' })).toEqual([]);
    expect(logs({ accessLogFile: '/log' })).toEqual(file('/log', text('')));
    expect(logs({ enableEnvoyAccessLogService: true })).toEqual([{ kind: 'envoy-als' }]);
    expect(logs({ enableEnvoyAccessLogService: false })).toEqual([]);
    expect(logs({ accessLogFile: '/log', enableEnvoyAccessLogService: true }).map(({ kind }) => kind)).toEqual([
      'file',
      'envoy-als',
    ]);
  });

  it('write the format of the mesh as text, a line each, or as JSON', () => {
    const written = (accessLogFormat: string, accessLogEncoding?: string) => {
      const [log] = logs({ accessLogFile: '/log', accessLogFormat, ...(accessLogEncoding && { accessLogEncoding }) });
      return log?.kind === 'file' ? log.format : undefined;
    };
    expect(written('a')).toEqual(text('a\n'));
    expect(written('a\n', 'TEXT')).toEqual(text('a\n'));
    expect(written('\na')).toEqual(text('\na\n'));
    expect(written('{"a":"%B%"}', 'TEXT')).toEqual(text('{"a":"%B%"}\n'));
    expect(written('{"a":"%B%"}', 'JSON')).toEqual(json({ a: '%B%' }));
    expect(written('{}', 'JSON')).toEqual(json({}));
  });

  it.each(['', 'no JSON', '["a"]', '"a"'])('write the default of JSON if the format is %j', accessLogFormat => {
    expect(logs({ accessLogFile: '/log', accessLogEncoding: 'JSON', accessLogFormat })).toEqual(file('/log', json()));
  });

  it('are those of the mesh beside a Telemetry without access logs', () => {
    expect(logs({ accessLogFile: '/log' }, { namespace: { accessLogging: [] } })).toEqual(file('/log', text('')));
  });
});

it('a default provider counts beside a Telemetry whose list of access logs is empty', () => {
  const mesh = {
    extensionProviders: [{ name: 'p', envoyFileAccessLog: { path: '/p' } }],
    defaultProviders: { accessLogging: ['p'] },
  };
  expect(logs(mesh, { namespace: { accessLogging: [] } })).toEqual(file('/p', text('')));
});

describe('the log of a file provider', () => {
  it('goes to standard output unless a path is given', () => {
    expect(ofProvider({ envoyFileAccessLog: {} })).toEqual(file('/dev/stdout', text('')));
    expect(ofProvider({ envoyFileAccessLog: { path: '' } })).toEqual(file('/dev/stdout', text('')));
    expect(ofProvider({ envoyFileAccessLog: { path: '/p' } })).toEqual(file('/p', text('')));
  });

  it('has its own format, not that of the mesh', () => {
    const mesh = { accessLogFormat: 'mesh' };
    const written = (logFormat: JsonObject) => ofProvider({ envoyFileAccessLog: { path: '/p', logFormat } }, mesh);
    expect(ofProvider({ envoyFileAccessLog: { path: '/p' } }, mesh)).toEqual(file('/p', text('')));
    expect(written({ text: 'a' })).toEqual(file('/p', text('a\n')));
    expect(written({ labels: { a: 'b' } })).toEqual(file('/p', json({ a: 'b' })));
    expect(written({ labels: {} })).toEqual(file('/p', json()));
    expect(written({})).toEqual(file('/p', undefined));
  });

  it('has the format of the mesh if it is the provider envoy without a format', () => {
    const written = (envoyFileAccessLog: JsonObject) =>
      logs({
        accessLogFormat: 'mesh',
        extensionProviders: [{ name: 'envoy', envoyFileAccessLog: { path: '/p', ...envoyFileAccessLog } }],
        defaultProviders: { accessLogging: ['envoy'] },
      });
    expect(written({})).toEqual(file('/p', text('mesh\n')));
    expect(written({ omitEmptyValues: true })).toEqual(file('/p', text(''), true));
    expect(written({ logFormat: { text: 'own' } })).toEqual(file('/p', text('own\n')));
  });
});

describe('the log of a provider that sends to a service', () => {
  const sink = { cluster: CLUSTER, authority: HOST, filterStateObjects: ['upstream_peer', 'downstream_peer'] };
  const headers = { requestHeaders: [], responseHeaders: [], responseTrailers: [] };
  const to = { service: HOST, port: 9000 };

  it.each<[string, string, string]>([
    ['envoyHttpAls', 'http-als', 'http_envoy_accesslog'],
    ['envoyTcpAls', 'tcp-als', 'tcp_envoy_accesslog'],
  ])('has the default name of its type: %s', (member, kind, logName) => {
    expect(ofProvider({ [member]: to })).toEqual([{ kind, ...sink, ...headers, logName }]);
    expect(ofProvider({ [member]: { ...to, logName: '' } })).toEqual([{ kind, ...sink, ...headers, logName }]);
    expect(ofProvider({ [member]: { ...to, logName: 'own' } })).toEqual([
      { kind, ...sink, ...headers, logName: 'own' },
    ]);
  });

  it('has further headers and its own filter state objects', () => {
    const more = {
      additionalRequestHeadersToLog: ['a'],
      additionalResponseHeadersToLog: ['b'],
      additionalResponseTrailersToLog: ['c'],
      filterStateObjectsToLog: ['d'],
    };
    expect(ofProvider({ envoyHttpAls: { ...to, ...more } })).toMatchObject([
      { requestHeaders: ['a'], responseHeaders: ['b'], responseTrailers: ['c'], filterStateObjects: ['d'] },
    ]);
  });

  it('is one of OpenTelemetry with text, labels and all names of peers', () => {
    const log = { kind: 'otel', ...sink, logName: 'otel_envoy_accesslog', filterStateObjects: allPeerStateNames };
    expect(ofProvider({ envoyOtelAls: to })).toEqual([{ ...log, text: '', labels: {} }]);
    const logFormat = { text: 'a', labels: { b: 'c' } };
    expect(ofProvider({ envoyOtelAls: { ...to, logFormat } })).toEqual([{ ...log, ...logFormat }]);
  });

  it('names a namespace where services of several share the host, and the whole name after it', () => {
    expect(ofProvider({ envoyTcpAls: { ...to, service: `obs/${HOST}` } })).toMatchObject([sink]);
    expect(ofProvider({ envoyTcpAls: { ...to, service: `shop/${HOST}` } })).toEqual([]);
    expect(ofProvider({ envoyTcpAls: { ...to, service: `/${HOST}` } })).toEqual([]);
  });
});

it('the log of listeners is on unless the mesh switches it off', () => {
  const query: Query<'', boolean> = { name: 'test/listenersLog', run: (reader: ProxyReader) => listenersLog(reader) };
  const on = (mesh: JsonObject): boolean => ask(withLevels({}, mesh), query, '', proxy);
  expect(on({})).toBe(true);
  expect(on({ disableEnvoyListenerLog: false })).toBe(true);
  expect(on({ disableEnvoyListenerLog: true })).toBe(false);
});
