// A run with several replicas: one log on faulty servers, one folder of objects, Envoys that move from replica to
// replica, and one seed. At rest every replica that still follows has folded the same world, every client holds what
// fresh generation gives, a client that moves is sent nothing, and each replica's own journal explains all of it (laws
// 1, 2, 6, 7).

import { worldDigest } from '../../../src/replicas/world-digest.ts';
import { CONNECTIONS, NODES } from '../../../src/testing/facts.ts';
import { resourceSources } from '../../../src/xds/assemble/types.ts';
import { Engine } from '../../../src/xds/engine/engine.ts';
import { SimClient } from '../client.ts';
import { decodeResponse } from '../contents.ts';
import { Platter } from '../disk.ts';
import { FakeClock, settle } from '../fake-clock.ts';
import { Folder } from '../folder.ts';
import { checkHeld, checkJournal, LawBroken, Receipts } from '../laws.ts';
import { Random } from '../random.ts';
import type { Outcome } from '../simulation.ts';
import { Wire } from '../wire.ts';
import { LogServers } from './faulty-log.ts';
import { ReplicaProcess } from './replica-process.ts';

/** A mistake put in on purpose, to see that it is found. */
export type ReplicaCanary = 'positions-not-compared' | 'own-facts' | 'rollback-unnoticed';

export interface ReplicaRunOptions {
  readonly seed: number;
  readonly steps: number;
  readonly replicas: number;
  readonly canary?: ReplicaCanary;
}

const TRACE_MAX = 60;
/** Of simulated time, in which everything comes to rest once nothing fails. */
const REST_MS = 20_000;
const REST_STEP_MS = 200;
const NAMES = ['east', 'west', 'north', 'south', 'up', 'down'];

export async function simulateReplicas(options: ReplicaRunOptions): Promise<Outcome> {
  return new ReplicaSimulation(options).run();
}

class ReplicaSimulation {
  readonly #options: ReplicaRunOptions;
  readonly #random: Random;
  readonly #clock = new FakeClock();
  readonly #folder: Folder;
  readonly #servers: LogServers;
  readonly #platters: readonly Platter[];
  readonly #receipts: readonly Receipts[];
  readonly #clients: readonly SimClient[];
  readonly #processes: (ReplicaProcess | undefined)[] = [];
  /** Client → the replica that it is connected to. */
  readonly #at = new Map<SimClient, number>();
  readonly #trace: string[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #mayRollBack: boolean;
  #boots = 0;
  #step = 0;
  #broken: string | undefined;

  constructor(options: ReplicaRunOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#folder = new Folder(options.seed, this.#random);
    this.#servers = new LogServers(this.#clock, this.#random, options.canary === 'positions-not-compared');
    const key = new Platter().vault;
    this.#platters = Array.from({ length: options.replicas }, () => new Platter(key));
    this.#receipts = this.#platters.map(platter => new Receipts(platter));
    this.#mayRollBack = options.canary === 'rollback-unnoticed' || this.#random.chance(0.3);
    this.#clients = CONNECTIONS.slice(0, 2).flatMap(name =>
      (['sotw', 'delta'] as const).map(protocol => new SimClient(`${name}/${protocol}`, protocol, { ...NODES[name] })),
    );
  }

  async run(): Promise<Outcome> {
    try {
      for (let i = 0; i < this.#options.replicas; i++) await this.#boot(i);
      for (this.#step = 1; this.#step <= this.#options.steps; this.#step++) {
        await this.#act();
        this.#check();
      }
      await this.#rest();
      for (const [i, platter] of this.#platters.entries()) {
        const receipts = await checkJournal(platter, this.#processes[i]?.plane.world.state);
        this.#count('receipts', receipts);
      }
    } catch (error) {
      this.#broken ??=
        error instanceof LawBroken ? error.message : `failed: ${(error as Error).stack ?? String(error)}`;
    } finally {
      for (const process of this.#processes) process?.kill();
      this.#clock.clear();
    }
    return {
      seed: this.#options.seed,
      broken: this.#broken,
      step: this.#step,
      trace: this.#trace,
      counts: this.#counts,
    };
  }

  async #act(): Promise<void> {
    const action = this.#random.weighted<() => void | Promise<void>>([
      [12, () => this.#change()],
      [20, () => this.#pass(this.#random.int(400))],
      [4, () => this.#pass(4_500)],
      [5, () => this.#move()],
      [3, () => this.#toggleCut()],
      [3, () => this.#kill()],
      [1, () => this.#stop()],
      [2, () => this.#elect()],
      [this.#mayRollBack ? 1.5 : 0, () => this.#rollBack()],
    ]);
    await action();
  }

  #change(): void {
    const { batch, what } = this.#folder.change();
    const leaders = this.#processes.filter(process => process?.leads === true);
    this.#note(`${what} → ${leaders.map(leader => leader?.name).join() || 'none leads'}`);
    for (const leader of leaders) leader?.submit(batch);
    const { canary } = this.#options;
    if (canary === 'own-facts') {
      const running = this.#processes.filter(process => process !== undefined);
      if (running.length === 0) return;
      const own = this.#random.pick(running);
      void own.plane.world.record([
        { source: 'file/Kubernetes', kind: 'MeshConfig', value: { accessLogFile: own.name } },
      ]);
    }
  }

  async #pass(ms: number): Promise<void> {
    const until = this.#clock.now() + ms;
    for (;;) {
      const more = this.#clock.next(until);
      await settle(3);
      this.#deliver();
      if (!more) return;
    }
  }

  // --- processes and the log ---------------------------------------------------------------------------------------

  async #boot(i: number): Promise<void> {
    this.#processes[i] = await ReplicaProcess.start({
      name: NAMES[i] ?? `replica-${i}`,
      boot: ++this.#boots,
      platter: this.#platters[i]!,
      clock: this.#clock,
      servers: this.#servers,
      random: this.#random,
      all: () => this.#folder.all(),
      note: message => this.#note(message),
    });
  }

  async #kill(): Promise<void> {
    const i = this.#random.int(this.#processes.length);
    const process = this.#processes[i];
    if (process === undefined) return this.#boot(i);
    this.#note(`kill -9 ${process.name}${process.leads ? ', which leads' : ''}`);
    this.#count(process.leads ? 'leaders killed' : 'followers killed');
    process.kill();
    this.#gone(i);
    await settle();
    if (this.#random.chance(0.5)) await this.#boot(i);
    return undefined;
  }

  async #stop(): Promise<void> {
    const i = this.#random.int(this.#processes.length);
    const process = this.#processes[i];
    if (process === undefined) return;
    this.#note(`SIGTERM ${process.name}`);
    this.#count('stops');
    let over = false;
    void process.stop().then(() => {
      over = true;
    });
    for (let turn = 0; !over && turn < 400; turn++) await this.#pass(50);
    if (!over) throw new LawBroken(`${process.name} does not stop`);
    process.kill();
    this.#gone(i);
    await this.#boot(i);
  }

  #gone(i: number): void {
    this.#processes[i] = undefined;
    for (const [client, at] of this.#at) if (at === i) this.#disconnect(client);
  }

  #toggleCut(): void {
    const process = this.#random.pick(this.#processes);
    if (process === undefined) return;
    process.view.cut = !process.view.cut;
    if (process.view.cut) this.#count('partitions');
    this.#note(`${process.name} is ${process.view.cut ? 'cut off from the log' : 'back at the log'}`);
  }

  #elect(): void {
    const ms = this.#random.int(6_000);
    this.#note(`the log has no leader for ${ms} ms`);
    this.#count('elections');
    this.#servers.electLeader(ms);
  }

  #rollBack(): void {
    const last = this.#servers.rollBack(1 + this.#random.int(3));
    this.#count('rollbacks');
    this.#note(`the log is rolled back to ${last}`);
  }

  // --- clients -----------------------------------------------------------------------------------------------------

  #move(): void {
    const client = this.#random.pick(this.#clients);
    this.#disconnect(client);
    this.#connect(client, this.#random.int(this.#processes.length));
  }

  #disconnect(client: SimClient): void {
    client.wire?.cutOff('cancelled');
    client.wire = undefined;
    this.#at.delete(client);
  }

  #connect(client: SimClient, i: number): void {
    const plane = this.#processes[i]?.plane;
    if (plane?.ready !== true) return;
    const wire: Wire = new Wire(
      message => this.#sending(i, client, wire, message),
      what => {
        this.#broken ??= `${client.name}: ${what}`;
      },
    );
    client.connect(wire);
    this.#at.set(client, i);
    if (!plane.hub.accept(wire)) return;
    void plane.hub.open(client.protocol, wire, { peer: '10.0.0.1', gone: () => wire.cut }).then(stream => {
      wire.stream = stream;
      if (wire.cut) stream?.closed('cancelled');
    });
  }

  #sending(i: number, client: SimClient, wire: Wire, bytes: Buffer): void {
    const message = decodeResponse(client.protocol, bytes);
    this.#count('responses');
    this.#count('resources', message.resources.length + message.removed.length);
    try {
      this.#receipts[i]!.sending(wire.stream?.connection ?? '', message, true);
    } catch (error) {
      this.#broken ??= (error as Error).message;
    }
  }

  /** Every message that is on its way arrives. */
  #deliver(): void {
    for (const client of this.#clients) {
      const { wire } = client;
      if (wire === undefined) continue;
      if (wire.ended !== undefined && wire.toClient.length === 0) this.#disconnect(client);
      while (wire.canReachServer) wire.reachServer();
      while (client.read(false));
    }
  }

  // --- rest --------------------------------------------------------------------------------------------------------

  async #rest(): Promise<void> {
    this.#note('rest');
    this.#servers.faults = false;
    this.#servers.recover();
    for (const [i, process] of this.#processes.entries()) {
      if (process === undefined) await this.#boot(i);
      else process.view.cut = false;
    }
    await this.#calm();
    // What a replica missed that led for a moment: the source is listed again, as by a watch that begins anew.
    for (const process of this.#processes) if (process?.leads === true) process.relist();
    for (const client of this.#clients) this.#reconnect(client);
    await this.#calm();
    this.#check();
    const following = this.#processes.flatMap((process, i) =>
      process !== undefined && process.replica.mirror.lost === undefined ? [i] : [],
    );
    this.#sameWorld(following);
    if (following.length > 0) await this.#movesForNothing(following);
    this.#count('rests');
  }

  async #calm(): Promise<void> {
    for (let passed = 0; passed < REST_MS; passed += REST_STEP_MS) await this.#pass(REST_STEP_MS);
  }

  #reconnect(client: SimClient): void {
    if (client.wire !== undefined) return;
    const ready = this.#processes.findIndex(process => process?.plane.ready === true);
    if (ready >= 0) this.#connect(client, ready);
  }

  #sameWorld(following: readonly number[]): void {
    const rolledBack = this.#counts.rollbacks !== undefined;
    if (!rolledBack || this.#options.canary === 'rollback-unnoticed') {
      const lost = this.#processes.find(process => process?.replica.mirror.lost !== undefined);
      if (lost !== undefined)
        throw new LawBroken(`the log is whole, and ${lost.name} says ${lost.replica.mirror.lost}`);
    }
    const first = this.#processes[following[0] ?? -1];
    if (first === undefined) return;
    const { ids } = this.#servers;
    if (new Set(ids).size !== ids.length) throw new LawBroken('an entry is in the log twice');
    const leaders = following.filter(i => this.#processes[i]?.leads === true);
    if (leaders.length !== 1) throw new LawBroken(`${leaders.length} replicas lead`);
    const digest = worldDigest(first.plane.world.state);
    for (const i of following) {
      const process = this.#processes[i]!;
      const { position } = process.replica.mirror.position;
      if (position !== this.#servers.last) {
        throw new LawBroken(
          `law 1: ${process.name} folded up to ${position}, and the log ends at ${this.#servers.last}`,
        );
      }
      if (worldDigest(process.plane.world.state) !== digest) {
        throw new LawBroken(`law 1: ${process.name} and ${first.name} differ at position ${position}`);
      }
    }
    for (const client of this.#clients) {
      const i = this.#at.get(client);
      if (i === undefined || !following.includes(i)) continue;
      const connection = client.wire?.stream?.connection ?? '';
      checkHeld(client, connection, this.#processes[i]!.plane, new Engine(resourceSources));
    }
  }

  /** A delta client that comes to another replica with what it holds is sent no resource. */
  async #movesForNothing(following: readonly number[]): Promise<void> {
    for (const client of this.#clients) {
      if (client.protocol !== 'delta') continue;
      const from = this.#at.get(client);
      const to = following.find(i => i !== from);
      if (from === undefined || to === undefined || !following.includes(from)) continue;
      this.#disconnect(client);
      const before = this.#counts.resources ?? 0;
      this.#connect(client, to);
      await this.#pass(1_000);
      this.#check();
      const sent = (this.#counts.resources ?? 0) - before;
      const names = `${this.#processes[from]!.name} to ${this.#processes[to]!.name}`;
      if (sent > 0) throw new LawBroken(`moved: ${client.name} went from ${names} and was sent ${sent} resources`);
      if (client.wire?.stream === undefined) throw new LawBroken(`moved: ${client.name} could not go from ${names}`);
      this.#count('moves');
    }
  }

  #check(): void {
    if (this.#broken !== undefined) throw new LawBroken(this.#broken);
  }

  #count(what: string, by = 1): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + by;
  }

  #note(what: string): void {
    this.#trace.push(`${this.#step} @${this.#clock.now() % 10_000_000}: ${what}`);
    if (this.#trace.length > TRACE_MAX) this.#trace.shift();
  }
}
