// A run: a control plane, a folder of objects, a handful of Envoys, a network and a disk, and one seed that decides
// what happens next. Time passes only when the run says so, so a seed gives the same run on every machine. After every
// step the network's laws hold, at rest (every message delivered, every timer fired, the disk in order) every client
// holds what fresh generation gives, and at the end the journal explains all of it.

import { CONNECTIONS, NODES } from '../../src/testing/facts.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { EDS, RDS } from '../../src/xds/session/types.ts';
import { SimClient } from './client.ts';
import { decodeResponse } from './contents.ts';
import { type Canary, SimControlPlane } from './control-plane.ts';
import { type Fate, Platter } from './disk.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { Folder } from './folder.ts';
import { checkHeld, checkJournal, LawBroken, Receipts, Removals } from './laws.ts';
import { Random } from './random.ts';
import { Wire } from './wire.ts';

export interface RunOptions {
  readonly seed: number;
  readonly steps: number;
  readonly canary?: Canary;
}

export interface Outcome {
  readonly seed: number;
  /** undefined: every law held. */
  readonly broken: string | undefined;
  /** At which step. */
  readonly step: number;
  /** What happened last, oldest first. */
  readonly trace: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

const TRACE_MAX = 40;
/** Rounds after which a run that does not come to rest is broken. */
const ROUNDS_MAX = 5_000;
const EXTRA_NAMES = [
  '80',
  '9000',
  'nowhere',
  'outbound|80||alpha.prod.svc.cluster.local',
  'outbound|80|v1|beta.test.svc.cluster.local',
];

export async function simulate(options: RunOptions): Promise<Outcome> {
  const run = new Simulation(options);
  return run.run();
}

class Simulation {
  readonly #options: RunOptions;
  readonly #random: Random;
  readonly #clock = new FakeClock();
  readonly #platter = new Platter();
  readonly #receipts = new Receipts(this.#platter);
  readonly #removals = new Removals();
  readonly #clients: readonly SimClient[];
  readonly #folder: Folder;
  readonly #trace: string[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #strict: boolean;
  #plane: SimControlPlane | undefined;
  #boots = 0;
  #step = 0;
  #diskFails = false;
  #diskIsSlow = false;
  #resting = false;
  #broken: string | undefined;
  /** The source says one thing after another. */
  #saying: Promise<unknown> = Promise.resolve();

  constructor(options: RunOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#folder = new Folder(options.seed, this.#random);
    this.#strict = options.canary === undefined && this.#random.chance(0.15);
    const nodes = CONNECTIONS.filter(() => this.#random.chance(0.6));
    const chosen = nodes.length === 0 ? [CONNECTIONS[0]] : nodes;
    this.#clients = chosen.flatMap(name => (['sotw', 'delta'] as const).map(protocol => this.#client(name, protocol)));
  }

  #client(name: (typeof CONNECTIONS)[number], protocol: 'sotw' | 'delta'): SimClient {
    const extensions = name === 'sidecar-2' ? { extensions: [{ name: 'envoy.filters.http.router' }] } : {};
    return new SimClient(`${name}/${protocol}`, protocol, { ...NODES[name], ...extensions });
  }

  async run(): Promise<Outcome> {
    try {
      await this.#boot();
      await this.#saying;
      for (const client of this.#clients) this.#connect(client);
      for (this.#step = 1; this.#step <= this.#options.steps; this.#step++) {
        await this.#act();
        await settle(this.#random.int(4));
        this.#check();
      }
      await this.#rest('at the end');
      const state = this.#plane?.world.state;
      this.#counts.receipts = await checkJournal(this.#platter, state);
    } catch (error) {
      if (!(error instanceof LawBroken))
        this.#broken ??= `failed: ${error instanceof Error ? error.stack : String(error)}`;
      else this.#broken ??= error.message;
    } finally {
      this.#plane?.kill();
      this.#clock.clear();
    }
    const { seed } = this.#options;
    return { seed, broken: this.#broken, step: this.#step, trace: this.#trace, counts: this.#counts };
  }

  async #act(): Promise<void> {
    const action = this.#random.weighted<() => void | Promise<void>>([
      [10, () => this.#change()],
      [40, () => this.#deliver()],
      [
        8,
        () =>
          this.#pass(
            this.#random.weighted([
              [5, 150],
              [3, 30],
              [1, 6_000],
            ]),
          ),
      ],
      [5, () => this.#toggleClient()],
      [3, () => this.#toggleSlow()],
      [2, () => this.#toggleName()],
      [2, () => this.#say('relist', () => this.#plane!.relist(this.#folder.all()))],
      [2, () => this.#toggleDisk()],
      [1.5, () => this.#restart()],
      [0.7, () => this.#rest('in between')],
    ]);
    await action();
  }

  // --- the world outside -------------------------------------------------------------------------------------------

  #change(): void {
    const { batch, what } = this.#folder.change();
    // A change without an event: the next relist finds it.
    if (this.#random.chance(0.1)) this.#note(`unnoticed: ${what}`);
    else this.#say(what, () => this.#plane!.submit(batch, this.#options.canary));
  }

  #say(what: string, run: () => Promise<void>): void {
    const plane = this.#plane;
    this.#note(what);
    if (plane === undefined) return;
    this.#saying = this.#saying
      .then(() => (this.#plane === plane ? run() : undefined))
      .catch(error => this.#heard(error));
  }

  /** The answer of a stopping control plane to any caller. */
  #heard(error: unknown): void {
    if (this.#plane?.alive) this.#broken ??= `a source was told ${String(error)}`;
  }

  async #boot(): Promise<void> {
    this.#boots++;
    const plane = await SimControlPlane.start({
      platter: this.#platter,
      clock: this.#clock,
      fate: () => this.#fate(),
      boot: this.#boots,
      strict: this.#strict,
      canary: this.#options.canary,
      log: message => this.#note(`  log: ${message}`),
    });
    this.#plane = plane;
    this.#saying = plane.relist(this.#folder.all()).catch(error => this.#heard(error));
  }

  async #restart(): Promise<void> {
    const plane = this.#plane!;
    const graceful = this.#random.chance(0.3) && !this.#diskFails;
    this.#note(graceful ? 'SIGTERM and start' : 'kill -9 and start');
    this.#count(graceful ? 'stops' : 'kills');
    if (graceful) {
      this.#diskIsSlow = false;
      this.#plane = undefined;
      let over = false;
      void plane.stop().then(() => {
        over = true;
      });
      for (let i = 0; !over && i < ROUNDS_MAX; i++) await this.#turn();
      if (!over) throw new LawBroken('stopping does not end');
    }
    plane.kill();
    this.#clock.clear();
    // A write that had reached the disk is done for any caller: committed, but acknowledged to none.
    await settle();
    for (const client of this.#clients) {
      client.wire?.cutOff('the control plane is gone');
      client.wire = undefined;
    }
    // Starting reads and writes: it waits for a disk that does.
    this.#diskFails = false;
    this.#diskIsSlow = false;
    await this.#boot();
  }

  #fate(): Fate {
    if (this.#diskFails) return { fails: true };
    if (!this.#diskIsSlow || this.#resting) return { fails: false };
    const ms = this.#random.int(40);
    return { fails: this.#random.chance(0.05), late: new Promise(resolve => this.#clock.after(ms, resolve)) };
  }

  #toggleDisk(): void {
    if (this.#random.chance(0.5)) this.#diskFails = !this.#diskFails;
    else this.#diskIsSlow = !this.#diskIsSlow;
    if (this.#diskFails) this.#count('gaps');
    this.#note(`disk: ${this.#diskFails ? 'fails' : this.#diskIsSlow ? 'slow' : 'in order'}`);
  }

  // --- network and clients -----------------------------------------------------------------------------------------

  #deliver(): void {
    // A client with a message on its way, else none.
    const busy = this.#clients.filter(
      ({ wire }) => wire?.canReachServer || (wire?.slow === false && wire.toClient.length > 0),
    );
    if (busy.length === 0) return;
    const client = this.#random.pick(busy);
    const wire = client.wire!;
    for (let i = this.#random.int(8); i >= 0; i--) {
      if (wire.canReachServer && this.#random.chance(0.6)) wire.reachServer();
      else if (!wire.slow) this.#read(client, this.#random.chance(0.08));
    }
  }

  #read(client: SimClient, refuses: boolean): boolean {
    const { canary } = this.#options;
    const mistake = canary === 'removal-lost' || canary === 'routes-not-taken' ? canary : undefined;
    const read = client.read(refuses, mistake);
    if (read && refuses) this.#note(`${client.name} refuses`);
    if (read) this.#count(refuses ? 'refusals' : 'accepted');
    return read;
  }

  #toggleClient(): void {
    const away = this.#clients.filter(one => one.wire === undefined);
    if (away.length > 0) {
      for (const one of away) if (this.#random.chance(0.7)) this.#connect(one);
      return;
    }
    const client = this.#random.pick(this.#clients);
    if (client.wire === undefined) return;
    this.#note(`${client.name} goes away`);
    client.wire.cutOff('cancelled');
    client.wire = undefined;
  }

  #connect(client: SimClient): void {
    const plane = this.#plane;
    if (plane === undefined) return;
    this.#count('connects');
    const wire: Wire = new Wire(
      message => this.#sending(plane, client, wire, message),
      what => {
        this.#broken ??= `${client.name}: ${what}`;
      },
      this.#options.canary === 'written-too-early',
    );
    client.connect(wire);
    if (!plane.hub.accept(wire)) return;
    void plane.hub.open(client.protocol, wire, { peer: '10.0.0.1', gone: () => wire.cut }).then(stream => {
      wire.stream = stream;
      if (wire.cut) stream?.closed('cancelled');
    });
  }

  #sending(plane: SimControlPlane, client: SimClient, wire: Wire, bytes: Buffer): void {
    const message = decodeResponse(client.protocol, bytes);
    const connection = wire.stream?.connection ?? '';
    try {
      this.#receipts.sending(connection, message, plane.world.durable);
      const stateSeq = this.#receipts.stateSeqOf(connection, message);
      const state = stateSeq === undefined ? undefined : plane.states.get(stateSeq);
      if (state !== undefined) this.#removals.sending(client, message, connection, state);
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error;
      this.#broken ??= error.message;
    }
    this.#count('responses');
  }

  #toggleSlow(): void {
    const { wire, name } = this.#random.pick(this.#clients);
    if (wire === undefined) return;
    wire.slow = !wire.slow;
    this.#note(`${name} ${wire.slow ? 'stops reading' : 'reads again'}`);
  }

  #toggleName(): void {
    const client = this.#random.pick(this.#clients);
    if (client.wire === undefined) return;
    const name = this.#random.pick(EXTRA_NAMES);
    this.#note(`${client.name} toggles ${name}`);
    client.toggle(this.#random.pick([EDS, RDS]), name);
  }

  async #pass(ms: number): Promise<void> {
    this.#note(`${ms} ms pass`);
    const until = this.#clock.now() + ms;
    while (this.#clock.next(until)) await settle(2);
  }

  // --- rest --------------------------------------------------------------------------------------------------------

  async #rest(when: string): Promise<void> {
    this.#note(`rest ${when}`);
    this.#resting = true;
    this.#diskFails = false;
    this.#saying = this.#saying.then(() => this.#plane!.relist(this.#folder.all())).catch(error => this.#heard(error));
    for (const client of this.#clients) {
      // A refusal leaves a client with what it had; only a new stream, or a change, mends that.
      if (client.refused.size > 0 && this.#random.chance(0.7)) {
        client.wire?.cutOff('cancelled');
        client.wire = undefined;
      }
    }
    let rounds = 0;
    while (await this.#turn()) {
      if (++rounds > ROUNDS_MAX) throw new LawBroken('the control plane does not come to rest');
      this.#check();
    }
    this.#resting = false;
    const plane = this.#plane!;
    if (!plane.world.durable) throw new LawBroken('the journal can be written and is not');
    const engine = new Engine(resourceSources);
    for (const client of this.#clients) checkHeld(client, client.wire?.stream?.connection ?? '', plane, engine);
    this.#count('rests');
  }

  /** Everything that can happen by itself happens; false if nothing can. */
  async #turn(): Promise<boolean> {
    await settle(6);
    let moved = false;
    for (const client of this.#clients) {
      if (client.wire?.ended !== undefined && client.wire.toClient.length === 0) {
        client.wire.cutOff('ended');
        client.wire = undefined;
      }
      if (client.wire === undefined && this.#plane?.ready === true) {
        this.#connect(client);
        moved = true;
        continue;
      }
      const { wire } = client;
      if (wire === undefined) continue;
      wire.slow = false;
      while (wire.canReachServer) {
        wire.reachServer();
        moved = true;
      }
      moved = this.#read(client, false) || moved;
    }
    if (moved) return true;
    const next = this.#clock.nextAt;
    if (next !== undefined) this.#clock.next(next);
    return next !== undefined;
  }

  #check(): void {
    if (this.#broken !== undefined) throw new LawBroken(this.#broken);
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  #note(what: string): void {
    this.#trace.push(`${this.#step} @${this.#clock.now() % 10_000_000}: ${what}`);
    if (this.#trace.length > TRACE_MAX) this.#trace.shift();
  }
}
