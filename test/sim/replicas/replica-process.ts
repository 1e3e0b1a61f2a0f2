// One replica of a simulation: a control plane of the simulator that follows the log, and reads the source while it
// leads.

import type { Fact } from '../../../src/core/event.ts';
import { NotLeading } from '../../../src/replicas/proposals.ts';
import { Replica } from '../../../src/replicas/replica.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { SimControlPlane } from '../control-plane.ts';
import type { Platter } from '../disk.ts';
import type { FakeClock } from '../fake-clock.ts';
import type { Random } from '../random.ts';
import { type LogServers, LogView } from './faulty-log.ts';

export interface ProcessOptions {
  readonly name: string;
  readonly boot: number;
  readonly platter: Platter;
  readonly clock: FakeClock;
  readonly servers: LogServers;
  readonly random: Random;
  /** Everything the source has. */
  readonly all: () => readonly Fact[];
  readonly note: (message: string) => void;
}

export class ReplicaProcess {
  readonly name: string;
  readonly plane: SimControlPlane;
  readonly replica: Replica;
  readonly view: LogView;
  readonly #options: ProcessOptions;

  private constructor(options: ProcessOptions, parts: { plane: SimControlPlane; replica: Replica; view: LogView }) {
    this.#options = options;
    this.name = options.name;
    this.plane = parts.plane;
    this.replica = parts.replica;
    this.view = parts.view;
  }

  static async start(options: ProcessOptions): Promise<ReplicaProcess> {
    const { name, platter, clock, servers, random, boot, note } = options;
    const started: { view?: LogView; replica?: Replica; process?: ReplicaProcess } = {};
    const plane = await SimControlPlane.start({
      platter,
      clock,
      boot,
      fate: () => ({ fails: false }),
      strict: false,
      canary: undefined,
      log: message => note(`  ${name}: ${message}`),
      // Every second process folds what it missed at once, however little it is.
      restoredMin: boot % 2 === 0 ? 2 : undefined,
      replica: ({ world, journal, clock: own }) => {
        // What has left the process arrives, so the view is on the clock of the world outside.
        const view = new LogView(servers, clock, random);
        const mortal: Clock = own;
        const replica = new Replica({
          id: name,
          boot: String(boot),
          log: view,
          lease: view,
          journal,
          world,
          clock: mortal,
          say: (_level, message) => note(`  ${name}: ${message}`),
          onLead: () => started.process?.relist(),
          onFollow: () => undefined,
          newLogName: () => `log-${random.int(1_000_000)}`,
        });
        Object.assign(started, { view, replica });
        return replica;
      },
    });
    const { view, replica } = started;
    if (view === undefined || replica === undefined) throw new Error('the control plane made no replica');
    const process = new ReplicaProcess(options, { plane, replica, view });
    started.process = process;
    replica.start();
    return process;
  }

  get leads(): boolean {
    return this.replica.term !== undefined;
  }

  relist(): void {
    this.#heard(this.plane.relist(this.#options.all()));
  }

  submit(batch: readonly Fact[]): void {
    this.#heard(this.plane.submit(batch, undefined));
  }

  /** kill -9. */
  kill(): void {
    this.view.dead = true;
    this.plane.kill();
  }

  async stop(): Promise<void> {
    await this.replica.stop();
    this.view.dead = true;
    await this.plane.stop();
  }

  #heard(said: Promise<void>): void {
    said.catch((error: unknown) => {
      if (!(error instanceof NotLeading)) this.#options.note(`  ${this.name}: a source was told ${String(error)}`);
    });
  }
}
