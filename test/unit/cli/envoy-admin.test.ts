// What Envoy's admin page says, as tables and as a difference to what was sent; bootstrap and log levels.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { askEnvoy, envoyLogLevels } from '../../../src/cli/envoy-admin.ts';
import { envoyDumpOf, sentAgainstHeld } from '../../../src/history/envoy-dump.ts';
import { CDS, LDS, RDS, SDS } from '../../../src/xds/session/types.ts';

const type = (name: string): string => `type.googleapis.com/envoy.admin.v3.${name}`;
const reviews = {
  '@type': 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
  name: 'outbound|80||reviews',
  connect_timeout: '10s',
  metadata: { filter_metadata: { istio: { default_original_port: 80 } } },
};
const page = {
  configs: [
    { '@type': type('BootstrapConfigDump'), bootstrap: { node: { id: 'sidecar~1' } } },
    {
      '@type': type('ClustersConfigDump'),
      static_clusters: [{ cluster: { name: 'xds-grpc' } }],
      dynamic_active_clusters: [
        { version_info: 'v1', cluster: reviews },
        { version_info: 'v1', cluster: { name: 'outbound|80||old' } },
      ],
    },
    {
      '@type': type('ListenersConfigDump'),
      dynamic_listeners: [
        { name: 'virtualInbound', active_state: { version_info: 'v7', listener: { name: 'virtualInbound' } } },
      ],
    },
    { '@type': type('SecretsConfigDump'), dynamic_active_secrets: [{ name: 'default', secret: { name: 'default' } }] },
  ],
};
const camel = {
  name: 'outbound|80||reviews',
  connectTimeout: '10s',
  metadata: { filterMetadata: { istio: { default_original_port: 80 } } },
};
const sent = {
  proxy: 'p',
  configs: [
    {
      typeUrl: CDS,
      resources: [
        { name: 'outbound|80||reviews', version: 'h1', resource: camel },
        { name: 'outbound|80||new', version: 'h2', resource: {} },
      ],
    },
    {
      typeUrl: LDS,
      resources: [{ name: 'virtualInbound', version: 'v7', resource: { name: 'virtualInbound', x: 1 } }],
    },
  ],
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function admin(answer: (path: string, method: string) => readonly [number, string]): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.url ?? '', request.method ?? '');
    response.writeHead(status).end(body);
  });
  servers.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a dump of Envoy's configuration", () => {
  const { dump, bootstrap } = envoyDumpOf(page)!;

  it('has what came over xDS, in the shape of our own dumps', () => {
    expect(dump.configs.map(({ typeUrl, resources }) => [typeUrl, resources.map(({ name }) => name)])).toEqual([
      [CDS, ['outbound|80||reviews', 'outbound|80||old']],
      [LDS, ['virtualInbound']],
      [SDS, ['default']],
    ]);
    expect(dump.configs[0]?.resources[0]?.resource).toEqual(camel);
    expect(bootstrap).toEqual({ node: { id: 'sidecar~1' } });
  });

  it('differs from what was sent by what is missing, left over or of other content', () => {
    const [clusters, listeners, routes] = sentAgainstHeld(sent, dump);
    expect(clusters).toEqual({
      typeUrl: CDS,
      same: 1,
      missing: ['outbound|80||new'],
      extra: ['outbound|80||old'],
      different: [],
    });
    // Of the same version, so the content is not compared.
    expect(listeners).toMatchObject({ typeUrl: LDS, same: 1, different: [] });
    expect(routes).toMatchObject({ typeUrl: RDS, same: 0 });
    const changed = {
      ...sent,
      configs: [
        {
          typeUrl: CDS,
          resources: [{ ...sent.configs[0]!.resources[0]!, resource: { ...camel, connectTimeout: '1s' } }],
        },
      ],
    };
    expect(sentAgainstHeld(changed, dump)[0]?.different).toEqual([
      { name: 'outbound|80||reviews', paths: ['connectTimeout'] },
    ]);
  });
});

describe("Envoy's admin page", () => {
  it('is asked for its configuration and its log levels', async () => {
    const asked: string[] = [];
    const address = await admin((path, method) => {
      asked.push(`${method} ${path}`);
      return [200, path.startsWith('/config_dump') ? JSON.stringify(page) : 'active loggers:\n  http: debug\n'];
    });
    expect((await askEnvoy(address)).bootstrap).toBeDefined();
    expect(await envoyLogLevels(address)).toContain('http: debug');
    await envoyLogLevels(address, 'debug');
    await envoyLogLevels(address, 'http:debug,rbac:trace');
    expect(asked).toEqual([
      'GET /config_dump?include_eds',
      'POST /logging',
      'POST /logging?level=debug',
      'POST /logging?paths=http%3Adebug%2Crbac%3Atrace',
    ]);
  });

  it('is an error that names the address if it does not answer, or answers as another program', async () => {
    const other = await admin(() => [200, 'hello']);
    await expect(askEnvoy(other)).rejects.toThrow(/did not answer with a config dump: is it Envoy/);
    const refusing = await admin(() => [404, 'no such page']);
    await expect(envoyLogLevels(refusing)).rejects.toThrow(/answered 404: no such page/);
    await expect(askEnvoy('127.0.0.1:1')).rejects.toThrow(/no Envoy answers at 127.0.0.1:1/);
  });
});
