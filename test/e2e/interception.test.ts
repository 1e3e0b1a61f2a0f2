// Real interception: two pods, each an application and a stock Envoy beside it, in network namespaces with iptables
// sending all of their traffic to the Envoys. The applications know nothing; what they send arrives, and the Envoys'
// statistics name the clusters it took. Needs an Envoy, root and Linux.

import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEnvoy } from '../../src/demo/envoy.ts';
import { Node, type Pod, whyNoPods } from './interception/pods.ts';
import { startSidecar } from './interception/sidecar.ts';
import { canRun } from './suite.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const HERE = join(import.meta.dirname, 'interception');
const READY_MS_MAX = 60_000;

/** Cluster IP of the service, as in config/mesh.yaml. */
const SERVICE = '10.96.0.20';
const HOST = 'reviews.default.svc.cluster.local';
const HTTP_OUT = `outbound|80||${HOST}`;
const TCP_OUT = `outbound|9000||${HOST}`;
/** Of both directions: istiod gives InboundPassthroughCluster the other one's name in the statistics. */
const PASSTHROUGH = 'PassthroughCluster';

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const missing = 'missing' in found ? found.missing : whyNoPods();
const runs = canRun('test/e2e/interception.test.ts', missing);
const binary = 'binary' in found ? found.binary : '';

interface Seen {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly from: string;
}

describe.runIf(runs)('interception', () => {
  let folder: string;
  let node: Node;
  let client: Pod;
  let reviews: Pod;
  let outside: Pod;
  const logs: FileHandle[] = [];

  const logOf = (name: string): string => join(folder, `${name}.log`);
  const logTo = async (name: string): Promise<number> => {
    const file = await open(logOf(name), 'w');
    logs.push(file);
    return file.fd;
  };
  const adminOf = (pod: Pod): string => join(folder, `${pod.name}.admin`);

  const sidecar = async (pod: Pod): Promise<void> =>
    startSidecar(pod, {
      binary,
      protocol: pod === client ? 'delta' : 'sotw',
      admin: adminOf(pod),
      xdsPort: 15_010,
      output: await logTo(`envoy-${pod.name}`),
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-pods-'));
    node = await Node.make();
    client = await node.pod('client', '10.77.1');
    reviews = await node.pod('reviews', '10.77.2');
    outside = await node.pod('outside', '192.0.2');
    const app = [process.execPath, join(HERE, 'pod-app.mjs'), 'serve'];
    reviews.start([...app, 'reviews', 'http:8080', 'tcp:9001', 'tcp:7000'], { output: await logTo('reviews') });
    outside.start([...app, 'outside', 'http:80', 'http:8888', 'tcp:7000'], { output: await logTo('outside') });
    const addresses = [
      '--grpcAddr',
      ':15010',
      '--monitoringAddr',
      ':15014',
      '--httpAddr',
      ':8080',
      '--secureGrpcAddr',
      '',
    ];
    const files = ['--configDir', join(HERE, 'config'), '--meshConfig', join(folder, 'none')];
    const serve = [process.execPath, CLI, 'serve', ...files, ...addresses, '--journal', join(folder, 'journal.db')];
    node.here.start(serve, { output: await logTo('plane') });
    await sidecar(client);
    await sidecar(reviews);
    await until('the Envoys are live', async () => {
      const states = await Promise.all([client, reviews].map(pod => admin(adminOf(pod), '/ready')));
      return states.every(text => text.startsWith('LIVE'));
    });
    await until('the applications run', async () =>
      (await Promise.all(['reviews', 'outside'].map(name => readFile(logOf(name), 'utf8')))).every(text => text !== ''),
    );
  });
  afterAll(async () => {
    await node?.end();
    for (const log of logs) await log.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    const end = Date.now() + READY_MS_MAX;
    while (!(await holds().catch(() => false))) {
      if (Date.now() > end) {
        const names = ['plane', 'envoy-client', 'envoy-reviews', 'reviews', 'outside'];
        const texts = await Promise.all(names.map(async name => `${name}: ${await readFile(logOf(name), 'utf8')}`));
        throw new Error(`not within ${READY_MS_MAX} ms: ${what}\n${texts.join('\n').slice(-8_000)}`);
      }
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  };

  const ask = async (
    pod: Pod,
    ...args: readonly string[]
  ): Promise<{ readonly status: number; readonly seen: Seen }> => {
    const output = await pod.run(process.execPath, join(HERE, 'pod-app.mjs'), 'get', ...args);
    const { status, body } = JSON.parse(output) as { readonly status: number; readonly body: string };
    expect(status, body).toBe(200);
    return { status, seen: JSON.parse(body) as Seen };
  };
  const say = (pod: Pod, address: string, port: number, text: string): Promise<string> =>
    pod.run(process.execPath, join(HERE, 'pod-app.mjs'), 'say', address, String(port), text).then(got => got.trim());

  /** Connections and requests that a cluster of this name has had. */
  const used = async (
    pod: Pod,
    cluster: string,
  ): Promise<{ readonly connections: number; readonly requests: number }> => {
    const stats = await admin(adminOf(pod), '/stats');
    // The statistics of a cluster carry a name that ends in a semicolon, so that it can be told from what follows.
    const value = (counter: string): number => {
      const lines = stats.split('\n');
      const names = [`cluster.${cluster}.${counter}: `, `cluster.${cluster};.${counter}: `];
      return Number(
        names.flatMap(name => lines.filter(line => line.startsWith(name)))[0]?.split(': ')[1] ?? Number.NaN,
      );
    };
    return { connections: value('upstream_cx_total'), requests: value('upstream_rq_total') };
  };
  /** What the clusters were used for while `during` ran: [connections, requests] each. */
  const uses = async (
    clusters: readonly (readonly [Pod, string])[],
    during: () => Promise<void>,
  ): Promise<readonly (readonly [number, number])[]> => {
    const all = () => Promise.all(clusters.map(([pod, cluster]) => used(pod, cluster)));
    const before = await all();
    await during();
    const after = await all();
    return after.map((now, i) => [
      now.connections - (before[i]?.connections ?? 0),
      now.requests - (before[i]?.requests ?? 0),
    ]);
  };

  it('takes HTTP to a service through its outbound and inbound clusters', async () => {
    const clusters = [[client, HTTP_OUT] as const, [reviews, 'inbound|8080||'] as const];
    const seen = await uses(clusters, async () => {
      for (let i = 0; i < 5; i++) {
        const answer = await ask(client, `http://${SERVICE}/books/${i}`, 'reviews');
        expect(answer.seen).toMatchObject({ name: 'reviews', path: `/books/${i}`, from: '127.0.0.6' });
        // Both Envoys have spoken HTTP.
        expect(answer.seen.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
        expect(answer.seen.headers['x-forwarded-proto']).toBe('http');
      }
    });
    expect(seen.map(([, requests]) => requests)).toEqual([5, 5]);
  });

  it('takes plain TCP to a service through its outbound and inbound clusters', async () => {
    const clusters = [[client, TCP_OUT] as const, [reviews, 'inbound|9001||'] as const];
    const seen = await uses(clusters, async () => {
      expect(await say(client, SERVICE, 9000, 'hello')).toBe('reviews got hello');
      expect(await say(client, SERVICE, 9000, 'again')).toBe('reviews got again');
    });
    expect(seen.map(([connections]) => connections)).toEqual([2, 2]);
  });

  it('passes traffic to unknown addresses through: TCP, HTTP on its own port, HTTP on a port known to the mesh', async () => {
    const seen = await uses([[client, PASSTHROUGH] as const], async () => {
      expect(await say(client, outside.address, 7000, 'hello')).toBe('outside got hello');
      expect((await ask(client, `http://${outside.address}:8888/a`)).seen).toMatchObject({
        name: 'outside',
        path: '/a',
      });
      expect((await ask(client, `http://${outside.address}/b`)).seen).toMatchObject({ name: 'outside', path: '/b' });
    });
    expect(seen[0]?.[0]).toBe(3);
  });

  it('passes traffic to a pod port without a service through on both sides', async () => {
    const clusters = [[client, PASSTHROUGH] as const, [reviews, PASSTHROUGH] as const];
    const seen = await uses(clusters, async () => {
      expect(await say(client, reviews.address, 7000, 'hello')).toBe('reviews got hello');
    });
    expect(seen.map(([connections]) => connections)).toEqual([1, 1]);
    expect(await admin(adminOf(reviews), '/clusters')).toContain(
      `InboundPassthroughCluster::${reviews.address}:7000::cx_total::1\n`,
    );
  });

  it('serves clients outside the mesh by the inbound cluster', async () => {
    const seen = await uses([[reviews, 'inbound|8080||'] as const], async () => {
      const answer = await ask(outside, `http://${reviews.address}:8080/c`);
      expect(answer.seen).toMatchObject({ name: 'reviews', path: '/c', from: '127.0.0.6' });
    });
    expect(seen[0]?.[1]).toBe(1);
  });

  it('lets an application reach itself by its service, through its own sidecar in both directions', async () => {
    const clusters = [[reviews, HTTP_OUT] as const, [reviews, 'inbound|8080||'] as const];
    const seen = await uses(clusters, async () => {
      expect((await ask(reviews, `http://${SERVICE}/d`, 'reviews')).seen).toMatchObject({
        name: 'reviews',
        path: '/d',
      });
    });
    expect(seen.map(([, requests]) => requests)).toEqual([1, 1]);
  });

  it('canary: traffic that the rules do not redirect appears in no statistics', async () => {
    await client.run(
      'sh',
      '-ec',
      'for t in iptables iptables-nft iptables-legacy; do $t -t nat -F OUTPUT || true; done',
    );
    const clusters = [[client, PASSTHROUGH] as const, [reviews, PASSTHROUGH] as const];
    const seen = await uses(clusters, async () => {
      expect(await say(client, reviews.address, 7000, 'hello')).toBe('reviews got hello');
    });
    expect(seen.map(([connections]) => connections)).toEqual([0, 1]);
    await expect(ask(client, `http://${SERVICE}/`, 'reviews')).rejects.toThrow();
  });
});

/** One page of an Envoy's admin address, a socket in the file system. */
function admin(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
