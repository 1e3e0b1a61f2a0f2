// The running system that a sample is recorded from: a real control plane on a folder of files, with proxies on real
// streams. Only the clock is a stage clock: a day passes in a minute, and always the same day.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/core/base/json.ts';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { exportJournal } from '../../src/journal/export.ts';
import { openJournal } from '../../src/journal/open.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { type ControlPlane, startControlPlane } from '../../src/runtime/control-plane.ts';
import { makeLog } from '../../src/runtime/log.ts';
import { type Refuses, SampleProxy } from './sample-proxy.ts';

/** Nothing has happened for so long: what was changed has gone everywhere. */
const QUIET_MS = 700;
const QUIET_MS_MAX = 60_000;
const CONFIG = 'mesh';
const JOURNAL = 'journal.db';

export class Stage {
  readonly #folder: string;
  readonly #day: number;
  readonly #started = Date.now();
  #offset = 0;
  #plane: ControlPlane | undefined;
  readonly #proxies = new Map<string, SampleProxy>();

  /** `day`: midnight, ms since the epoch. */
  constructor(day: number) {
    this.#day = day;
    this.#folder = mkdtempSync(join(tmpdir(), 'periplus-sample-'));
    // What is recorded names files: relative ones, the same on every machine.
    process.chdir(this.#folder);
    mkdirSync(CONFIG);
  }

  /** The time of day of the recorded change of an object. */
  now(): string {
    return new Date(Math.floor(this.#now() / 1_000) * 1_000).toISOString().replace('.000Z', 'Z');
  }

  #now(): number {
    return this.#day + this.#offset + (Date.now() - this.#started);
  }

  /** `9:10`, or later if it is later already. */
  advanceTo(time: string): void {
    const [hours = 0, minutes = 0] = time.split(':').map(Number);
    const wanted = this.#day + (hours * 60 + minutes) * 60_000;
    this.#offset += Math.max(0, wanted - this.#now());
  }

  async open(): Promise<void> {
    const loopback = { host: '127.0.0.1', port: 0 };
    const clock: Clock = { now: () => this.#now(), after: systemClock.after };
    const log = makeLog({ level: 'warn', json: false, clock, write: line => void process.stderr.write(line) });
    this.#plane = await startControlPlane(
      {
        configDir: CONFIG,
        grpcAddr: loopback,
        httpAddr: loopback,
        monitoringAddr: loopback,
        settings: defaultSettings,
        journal: JOURNAL,
        journalDurability: 'off',
        journalStrict: false,
        shutdownMs: 1_000,
      },
      clock,
      log,
    );
    await this.quiet();
  }

  /** The file as it is from now on; no objects: it is removed. */
  write(file: string, ...objects: readonly JsonObject[]): void {
    const path = join(CONFIG, file);
    if (objects.length === 0) rmSync(path);
    else writeFileSync(path, objects.map(object => stringify(object)).join('---\n'));
  }

  async change(time: string, file: string, ...objects: readonly JsonObject[]): Promise<void> {
    this.advanceTo(time);
    this.write(file, ...objects);
    await this.quiet();
  }

  async connect(name: string, node: JsonObject, refuses?: Refuses): Promise<void> {
    this.#proxies.set(name, new SampleProxy(this.#plane!.ports.grpc, node, refuses));
    await this.quiet();
  }

  async disconnect(name: string): Promise<void> {
    this.#proxies.get(name)?.close();
    this.#proxies.delete(name);
    await this.quiet();
  }

  /** The journal so far, as an export; its head. */
  async recorded(): Promise<{ readonly lines: readonly string[]; readonly seq: number; readonly hash: string }> {
    const journal = await openJournal(JOURNAL, { readonly: true });
    const lines: string[] = [];
    for await (const line of exportJournal(journal, { redact: false })) lines.push(`${line}\n`);
    const { seq, hash } = journal.head();
    await journal.close();
    return { lines, seq, hash };
  }

  async close(): Promise<void> {
    await this.#plane?.stop();
    for (const proxy of this.#proxies.values()) proxy.close();
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Until no event has come for a while and no proxy owes an answer. */
  async quiet(): Promise<void> {
    const until = Date.now() + QUIET_MS_MAX;
    let seen = -1;
    let since = Date.now();
    for (;;) {
      const { seq } = this.#plane!.world.state;
      const waiting = this.#plane!.xds.connections().some(({ types }) => types.some(({ sync }) => sync === 'STALE'));
      if (seq !== seen || waiting) {
        seen = seq;
        since = Date.now();
      } else if (Date.now() - since >= QUIET_MS) return;
      if (Date.now() > until) throw new Error('the mesh does not come to rest');
      await sleep(20);
    }
  }
}
