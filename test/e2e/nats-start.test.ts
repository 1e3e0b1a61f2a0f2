// A replica that starts while one of three NATS servers is away: the stream cannot be made yet, which is no reason to
// end.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NatsLink } from '../../src/replicas/nats/connection.ts';
import { JetStreamLog } from '../../src/replicas/nats/jetstream-log.ts';
import { Plane } from './kube/plane.ts';
import { until } from './kube/until.ts';
import { NatsCluster, natsOrSkip } from './nats/cluster.ts';

const program = await natsOrSkip('the test of a start without one of the NATS servers');
const AWAY = 2;

describe.runIf(program !== undefined)('a replica that starts while a NATS server is away', () => {
  const home = mkdtempSync(join(tmpdir(), 'periplus-nats-start-'));
  let nats: NatsCluster;
  let plane: Plane | undefined;

  beforeAll(async () => {
    nats = await NatsCluster.begin(program ?? '');
    const address = { servers: nats.servers.split(','), isTls: false, mesh: 'formed' };
    const link = new NatsLink({ address, name: 'test', say: () => undefined });
    const log = new JetStreamLog({ link, mesh: address.mesh, replicas: nats.size });
    await until('three servers that form a cluster', () =>
      log.prepare().then(
        () => true,
        () => false,
      ),
    );
    await link.close();
    // Servers that began after it was gone have never heard from it.
    for (let i = 0; i < nats.size; i++) await nats.kill(i);
    for (let i = 0; i < nats.size; i++) if (i !== AWAY) nats.start(i);
  });
  afterAll(async () => {
    await plane?.end('SIGKILL');
    await nats?.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('says what it waits for, and is ready when the server is back', async () => {
    plane = await Plane.serve([
      ...['--journal', `nats://${nats.servers}/late`, '--journal-mirror', join(home, 'mirror.db')],
      ...['--journalKey', join(home, 'key'), '--replica-id', 'one', '--configDir', home],
    ]);
    await until('the reason of its wait', () => /no suitable peers.*trying again/.test(plane?.log ?? ''));
    const page = (): Promise<{ readonly status: number } | undefined> =>
      plane?.page('/ready').catch(() => undefined) ?? Promise.resolve(undefined);
    await until('its pages', async () => (await page()) !== undefined);
    expect((await page())?.status).toBe(503);
    nats.start(AWAY);
    await plane.ready();
  });
});
