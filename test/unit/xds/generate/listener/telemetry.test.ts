// Access logs, metrics and tracing in listeners: what the mesh says, and what Telemetry makes of it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { AccessLog, FileAccessLog, StatsPluginConfig } from '../../../../../src/xds/proto/types.gen.ts';
import { hcm, httpService, type ListenerScene, workloadScene } from './scene.ts';

const HTTP: JsonObject = { name: 'http', port: 80, targetPort: 8080 };
const COLLECTOR = httpService('collector', 'obs', 4317, '10.96.0.9');

function telemetry(name: string, namespace: string, spec: JsonObject): JsonObject {
  return { apiVersion: 'telemetry.istio.io/v1', kind: 'Telemetry', metadata: { name, namespace }, spec };
}

const managers = (scene: ListenerScene) => ({
  server: hcm(scene.chains('app', 'virtualInbound').at(-1)),
  client: hcm(scene.chains('app', '0.0.0.0_80')[0]),
});

const paths = (logs: readonly AccessLog[] | undefined): readonly (string | undefined)[] =>
  (logs ?? []).map(log => (log.typedConfig as FileAccessLog | undefined)?.path);

const providers: JsonObject = {
  extensionProviders: [
    { name: 'a', envoyFileAccessLog: { path: '/a' } },
    { name: 'b', envoyFileAccessLog: { path: '/b' } },
    { name: 'zipkin', zipkin: { service: 'collector.obs.svc.cluster.local', port: 4317, maxTagLength: 64 } },
    { name: 'gone', zipkin: { service: 'nowhere.obs.svc.cluster.local', port: 1 } },
  ],
};

describe('access logs', () => {
  it('follow the mesh, also on listeners for connections without a chain', () => {
    const scene = workloadScene([HTTP], [], { mesh: { accessLogFile: '/dev/stderr', accessLogFormat: '%PROTOCOL%' } });
    const { server, client } = managers(scene);
    expect(paths(server.accessLog)).toEqual(['/dev/stderr']);
    expect((client.accessLog?.[0]?.typedConfig as FileAccessLog | undefined)?.logFormat).toEqual({
      textFormatSource: { inlineString: '%PROTOCOL%\n' },
    });
    expect(scene.listener('app', 'virtualInbound').accessLog?.[0]?.filter).toEqual({
      responseFlagFilter: { flags: ['NR'] },
    });
    const quiet = workloadScene([HTTP], [], { mesh: { accessLogFile: '/dev/stderr', disableEnvoyListenerLog: true } });
    expect(quiet.listener('app', 'virtualInbound').accessLog).toBeUndefined();
  });

  it('have the default format of Envoy if that of a provider is empty', () => {
    const extensionProviders = [
      { name: 'a', envoyFileAccessLog: { path: '/a', logFormat: {}, omitEmptyValues: true } },
      { name: 'b', envoyFileAccessLog: { path: '/b', logFormat: { text: '' } } },
    ];
    const accessLogging = [{ providers: [{ name: 'a' }, { name: 'b' }] }];
    const scene = workloadScene([HTTP], [telemetry('t', 'prod', { accessLogging })], { mesh: { extensionProviders } });
    const [a, b] = (managers(scene).server.accessLog ?? []).map(log => log.typedConfig as FileAccessLog | undefined);
    expect([a?.path, a?.logFormat]).toEqual(['/a', undefined]);
    expect(b?.logFormat?.textFormatSource?.inlineString).toMatch(/^\[%START_TIME%\] .*\n$/);
  });

  it('follow Telemetry for each side, and the mesh for a side without Telemetry', () => {
    const accessLogging = [{ match: { mode: 'CLIENT' }, providers: [{ name: 'b' }, { name: 'a' }] }];
    const scene = workloadScene([HTTP], [telemetry('t', 'prod', { accessLogging })], {
      mesh: { ...providers, accessLogFile: '/mesh' },
    });
    const { server, client } = managers(scene);
    expect(paths(client.accessLog)).toEqual(['/a', '/b']);
    expect(paths(server.accessLog)).toEqual(['/mesh']);
  });

  it('are switched off for one workload by name of the inherited provider', () => {
    const objects = [
      telemetry('root', 'istio-system', { accessLogging: [{ providers: [{ name: 'a' }] }] }),
      telemetry('mine', 'prod', { selector: { matchLabels: { app: 'app' } }, accessLogging: [{ disabled: true }] }),
    ];
    const { server } = managers(workloadScene([HTTP], objects, { mesh: { ...providers, accessLogFile: '/mesh' } }));
    expect(server.accessLog).toBeUndefined();
  });
});

describe('metrics', () => {
  const mesh = { defaultProviders: { metrics: ['prometheus'] } };
  const stats = (scene: ListenerScene, side: 'server' | 'client'): StatsPluginConfig | undefined =>
    managers(scene)[side].httpFilters?.find(filter => filter.name === 'istio.stats')?.typedConfig as
      | StatsPluginConfig
      | undefined;

  it('come from istio.stats between cors and router, without the host header on the server’s side', () => {
    const scene = workloadScene([HTTP], [], { mesh });
    const names = managers(scene).client.httpFilters?.map(filter => filter.name);
    expect(names?.slice(-3)).toEqual(['envoy.filters.http.cors', 'istio.stats', 'envoy.filters.http.router']);
    expect(stats(scene, 'client')?.disableHostHeaderFallback).toBeUndefined();
    expect(stats(scene, 'server')?.disableHostHeaderFallback).toBe(true);
  });

  it('are overridden one by one, for the selected side', () => {
    const overrides = [
      {
        match: { metric: 'REQUEST_COUNT', mode: 'SERVER' },
        tagOverrides: { a: { value: 'x' }, b: { operation: 'REMOVE' } },
      },
      { match: { metric: 'TCP_SENT_BYTES' }, disabled: true },
    ];
    const scene = workloadScene([HTTP], [telemetry('t', 'prod', { metrics: [{ overrides }] })], { mesh });
    expect(stats(scene, 'server')?.metrics).toEqual([
      { name: 'requests_total', dimensions: { a: 'x' }, tagsToRemove: ['b'] },
      { name: 'tcp_sent_bytes_total', drop: true },
    ]);
    expect(stats(scene, 'client')?.metrics?.map(metric => metric.name)).toEqual(['tcp_sent_bytes_total']);
  });

  it('are removed altogether with the last of them', () => {
    const metrics = [{ overrides: [{ match: { mode: 'CLIENT' }, disabled: true }] }];
    const scene = workloadScene([HTTP], [telemetry('t', 'prod', { metrics })], { mesh });
    expect(stats(scene, 'client')).toBeUndefined();
    expect(stats(scene, 'server')).toBeDefined();
  });
});

describe('tracing', () => {
  it('has sampling and tags but no provider unless one is configured', () => {
    const { server } = managers(workloadScene([HTTP]));
    expect(server.tracing?.randomSampling).toEqual({ value: 1 });
    expect(server.tracing?.provider).toBeUndefined();
    expect(managers(workloadScene([HTTP], [], { mesh: { enableTracing: false } })).server.tracing).toBeUndefined();
  });

  it('is sent to the collector of the provider, for the selected side', () => {
    const tracing = [
      { match: { mode: 'CLIENT' }, providers: [{ name: 'ZIPKIN' }], randomSamplingPercentage: 0 },
      { match: { mode: 'SERVER' }, providers: [{ name: 'gone' }] },
    ];
    const scene = workloadScene([HTTP], [COLLECTOR, telemetry('t', 'prod', { tracing })], { mesh: providers });
    const { server, client } = managers(scene);
    expect(client.tracing?.provider?.name).toBe('envoy.tracers.zipkin');
    expect(client.tracing?.randomSampling).toEqual({ value: 0 });
    expect(client.tracing?.maxPathTagLength).toEqual({ value: 64 });
    expect(server.tracing).toBeUndefined();
  });

  it('uses the format that the proxy version supports', () => {
    const mesh = { ...providers, defaultProviders: { tracing: ['zipkin'] } };
    const provider = (version: string): JsonObject =>
      managers(workloadScene([HTTP], [COLLECTOR], { mesh }, { ISTIO_VERSION: version })).client.tracing?.provider
        ?.typedConfig as unknown as JsonObject;
    expect(provider('1.28.0').collectorCluster).toBe('outbound|4317||collector.obs.svc.cluster.local');
    expect(provider('1.29.0').collectorService).toBeDefined();
  });
});
