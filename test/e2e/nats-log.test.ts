// A world log in JetStream that ends with a part of an entry whose writer died, before a real server: it is moved out
// without it, and the next entry takes its place.

import { headers } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { moveIntoLog, moveOutOfLog } from '../../src/replicas/move.ts';
import { NatsLink } from '../../src/replicas/nats/connection.ts';
import { JetStreamLog } from '../../src/replicas/nats/jetstream-log.ts';
import { subjectOf } from '../../src/replicas/nats/stream-settings.ts';
import { until } from './kube/until.ts';
import { NatsCluster, natsOrSkip } from './nats/cluster.ts';

const program = await natsOrSkip('the test of unfinished entries in NATS');
const MESH = 'torn';

describe.runIf(program !== undefined)('a log that ends with a part of an entry', () => {
  let nats: NatsCluster;
  let link: NatsLink;
  const opened = (): JetStreamLog => new JetStreamLog({ link, mesh: MESH, replicas: 1, partBytesMax: 400 });

  beforeAll(async () => {
    nats = await NatsCluster.begin(program ?? '', { nodes: 1 });
    const address = { servers: nats.servers.split(','), isTls: false, mesh: MESH };
    link = new NatsLink({ address, name: 'test', say: () => undefined });
    await until(
      'the stream',
      async () =>
        (await opened()
          .prepare()
          .catch(() => undefined)) !== undefined,
    );
  });
  afterAll(async () => {
    await link?.close();
    await nats?.close();
  });

  it('is moved out up to the last whole entry, and goes on after it', async () => {
    const journal = openMemoryJournal();
    const value = { accessLogFormat: 'x'.repeat(1_000) };
    await journal.append([{ source: 'file/Kubernetes', kind: 'MeshConfig', value }]);
    expect(await moveIntoLog(journal, opened(), { name: 'moved', now: Date.now })).toBe(1);
    const { js } = await link.connected();
    const torn = headers();
    torn.set('Periplus-Entry', 'unfinished');
    torn.set('Periplus-Part', '1/2');
    const { seq } = await js.publish(subjectOf(MESH), 'half', { headers: torn });
    const to = openMemoryJournal();
    expect(await moveOutOfLog(opened(), to)).toBe(1);
    expect(await to.seqsOf('MeshConfig', { from: 1 })).toHaveLength(1);
    const log = opened();
    const given: number[] = [];
    const ignore = (): void => undefined;
    const onEntry = async ({ position }: { readonly position: number }): Promise<void> => void given.push(position);
    const following = log.follow(0, { onEntry, onReachable: ignore, onLost: ignore });
    await until('the end of the log', async () => (await log.last()) === seq - 1);
    const appended = await log.append('next', seq - 1, 'next');
    expect(appended).toEqual({ kind: 'written', position: seq + 1 });
    await until('the next entry', () => given.at(-1) === seq + 1);
    await following.stop();
  });
});
