// Three replicas as a user runs them, on three real NATS servers: processes are killed at random moments, a proxy moves
// from replica to replica, the quorum goes and comes back, and the log is lost.

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NatsLink } from '../../src/replicas/nats/connection.ts';
import { streamSettings } from '../../src/replicas/nats/stream-settings.ts';
import { CDS, EDS, LDS } from '../../src/xds/session/types.ts';
import { Plane } from './kube/plane.ts';
import { until } from './kube/until.ts';
import { compareMirrors, rounds } from './nats/chaos.ts';
import { NatsCluster, natsOrSkip } from './nats/cluster.ts';
import { Fleet, MESH } from './nats/fleet.ts';
import { flipBit } from './nats/flip-bit.ts';
import { RoamingClient } from './nats/roaming-client.ts';
import { Switch } from './nats/switch.ts';

const program = await natsOrSkip('the tests of several replicas');
const ROUNDS = Number(process.env.PERIPLUS_ROUNDS ?? 5);
const SEED = Number(process.env.PERIPLUS_SEED ?? Date.now() % 1_000_000);
const REPLICAS = [0, 1, 2];

describe.runIf(program !== undefined)('three replicas on three NATS servers', () => {
  let nats: NatsCluster;
  let fleet: Fleet;
  beforeAll(async () => {
    nats = await NatsCluster.begin(program ?? '');
    fleet = new Fleet(nats);
    fleet.change('first.example.com');
    for (const i of REPLICAS) await fleet.start(i);
    await fleet.ready();
    await fleet.agree();
  });
  afterAll(async () => {
    await fleet?.close();
    await nats?.close();
  });

  it('send a proxy nothing that moves from one to another, and each shows the proxies of all', async () => {
    const to = await Switch.begin(fleet.plane(0).grpc);
    const client = new RoamingClient(to.port, 'roaming');
    const others = REPLICAS.map(i => new RoamingClient(fleet.plane(i).grpc, `still-${i}`));
    const cluster = 'outbound|80||first.example.com';
    const holdsAll = (one: RoamingClient): boolean =>
      one.names(CDS).includes(cluster) && one.names(EDS).includes(cluster) && one.names(LDS).length > 0;
    await until('clusters, endpoints and listeners', () => [client, ...others].every(holdsAll));
    const answered = async (i: number, ...states: readonly string[]): Promise<boolean> => {
      const { text } = await fleet.plane(i).page('/debug/syncz?own');
      const rows = JSON.parse(text) as readonly { proxy: string; types: Record<string, { status: string }> }[];
      const types = rows.find(({ proxy }) => proxy === 'roaming.shop')?.types ?? {};
      return ['CDS', 'LDS', 'EDS'].every(type => states.includes(types[type]?.status ?? ''));
    };
    await until('what it was sent is accepted', () => answered(0, 'SYNCED'));
    for (const i of [1, 2, 0]) {
      to.move(fleet.plane(i).grpc);
      await until(`the proxy at replica ${i}`, () => answered(i, 'SYNCED', 'NOT_SENT'));
      expect(client.sent).toBe(0);
    }
    for (const i of REPLICAS) {
      const { code, said } = await Plane.run('proxy-status', '--address', `127.0.0.1:${fleet.plane(i).http}`);
      expect(code).toBe(0);
      for (const name of ['roaming', 'still-0', 'still-1', 'still-2']) expect(said).toContain(`${name}.shop`);
    }
    // These clients ask for no routes, so none of them is live; what counts is that each is looked at.
    const waited = await Plane.run(
      ...['wait', '--for', 'ServiceEntry/shop/first', '--min-proxies', '4', '--timeout', '1s', '-o', 'json'],
      ...['--address', `127.0.0.1:${fleet.plane(1).http}`],
    );
    for (const name of ['roaming', 'still-0', 'still-1', 'still-2']) expect(waited.said).toContain(`${name}.shop`);
    for (const one of [client, ...others]) one.close();
    await to.close();
  });

  it(`agree after each of ${ROUNDS} rounds of kill -9 (seed ${SEED}), and record each change once`, async () => {
    await rounds({ from: 1, to: ROUNDS, seed: SEED }, fleet, nats);
    await compareMirrors(fleet);
  });

  it('notice a bit that flips in one, which serves no proxy until its journal gives what the others have', async () => {
    const address = '10.250.251.252';
    const cluster = 'outbound|80||flipped.example.com';
    fleet.change('flipped.example.com', address);
    await fleet.agree();
    const leader = await fleet.leader();
    const flipped = fleet.plane((leader + 1) % REPLICAS.length);
    const clients = [flipped, fleet.plane(leader)].map(({ grpc }, i) => new RoamingClient(grpc, `flip-${i}`));
    const endpoints = (): readonly unknown[] => clients.map(client => client.holds.get(EDS)?.get(cluster));
    await until('endpoints', () => endpoints().every(version => version !== undefined));
    expect(flipBit(flipped.pid, address)).toBeGreaterThan(0);
    await fleet.nextTerm();
    await until('a mended state', () => flipped.log.includes('the state was mended')).catch((error: unknown) => {
      throw new Error(flipped.log.slice(-4_000), { cause: error });
    });
    expect(flipped.log).toContain('this replica serves no proxy: its state at position');
    await flipped.ready();
    await until('equal states', () => fleet.isEqual());
    await until('its proxy to be back', async () => (await flipped.page('/debug/syncz?own')).text.includes('flip-0'));
    expect(new Set(endpoints()).size).toBe(1);
    for (const client of clients) client.close();
  });

  it('serve on without a quorum, say since when, and take the differences afterwards', async () => {
    await nats.kill(0);
    await nats.kill(1);
    const frozen = async (i: number): Promise<boolean> =>
      (await fleet.plane(i).page('/ready')).text.includes('world log: out of reach since');
    for (const i of REPLICAS) {
      await until(`replica ${i} says that the world is frozen`, () => frozen(i)).catch(async (error: unknown) => {
        const { text } = await fleet.plane(i).page('/ready');
        throw new Error(`${text}\n${fleet.plane(i).log.slice(-4_000)}`, { cause: error });
      });
    }
    fleet.change('frozen.example.com');
    const client = new RoamingClient(fleet.plane(2).grpc, 'late');
    await until('clusters', () => client.names(CDS).includes('outbound|80||first.example.com'));
    expect(client.names(CDS)).not.toContain('outbound|80||frozen.example.com');
    expect((await fleet.plane(2).page('/ready')).status).toBe(200);
    nats.start(0);
    nats.start(1);
    await fleet.agree();
    await until('the change', () => client.names(CDS).includes('outbound|80||frozen.example.com'));
    expect(fleet.plane(2).log).toContain('the world log is out of reach: what is known is served');
    expect(fleet.plane(2).log).toMatch(/the world log is read again, \d+ s later/);
    client.close();
  });

  it('fold nothing of a log that was made anew, and go on from the longest mirror', async () => {
    for (let i = 0; i < nats.size; i++) await nats.lose(i);
    for (let i = 0; i < nats.size; i++) nats.start(i);
    const isLost = async (i: number): Promise<boolean> =>
      (await fleet.plane(i).page('/ready')).text.includes('not the one that was followed');
    for (const i of REPLICAS) await until(`replica ${i} gives the alarm`, () => isLost(i));
    expect((await fleet.plane(0).page('/ready')).status).toBe(200);
    await fleet.stop();
    const moved = await Plane.run(
      ...['journal', 'move', fleet.mirror(0), fleet.address, '--journalKey', fleet.key, '--replace'],
    );
    expect(moved).toMatchObject({ code: 0 });
    expect(moved.said).toContain('move the mirrors of all replicas aside');
    for (const i of REPLICAS) rmSync(fleet.mirror(i), { force: true });
    for (const i of REPLICAS) rmSync(`${fleet.mirror(i)}.head`, { force: true });
    fleet.change('after-the-loss.example.com');
    for (const i of REPLICAS) await fleet.start(i);
    await fleet.ready();
    await fleet.agree();
    expect((await fleet.plane(1).page('/debug/configz')).text).toContain('first.example.com');
  });

  it('are refused a stream that may drop what it holds, with the reason', async () => {
    const address = { servers: nats.servers.split(','), isTls: false, mesh: 'unfit' };
    const link = new NatsLink({ address, name: 'test', say: () => undefined });
    const { jsm } = await link.connected();
    await jsm.streams.add({ ...streamSettings('unfit', 1), max_age: 3_600_000_000_000 });
    await link.close();
    const refused = await Plane.run(
      ...['serve', '--journal', `nats://${nats.servers}/unfit`, '--journalKey', fleet.key],
      ...['--journal-mirror', `${fleet.folder}/unfit/journal.db`, '--ctrlz_port', '0'],
      ...['--secureGrpcAddr', '', '--httpsAddr', '', '--grpcAddr', ':0', '--httpAddr', ':0', '--monitoringAddr', ':0'],
    );
    expect(refused.code).not.toBe(0);
    expect(refused.said).toContain('max_age is 3600000000000 ns, expected 0: entries would expire');
    expect(refused.said).toContain('num_replicas is 1, expected 3 or more');
    expect(MESH).not.toBe('unfit');
  });
});
