// The services of a registry as its adapter last read them, and the facts that follow. An adapter reports successful
// reads; a failed read changes nothing here but the status, so what was known stays.
//
// Invariant: what the sink holds of a part is what its last successful read said, except instances whose loss is held
// back (vanish-guard.ts). A part that could not be read since the start is unknown: the journal's objects of it stay,
// found by their origin `<source>/<part>`; its first successful read is a list, which finds the deletions.

import { jsonEqual } from '../../core/base/json.ts';
import type { Origin } from '../../core/base/problem.ts';
import type { Fact, RawObject } from '../../core/event.ts';
import { rawRef } from '../../core/fold/novelty.ts';
import type { AdapterLog, Sink, SourceStatus, Unreadable } from '../adapter.ts';
import type { Chance } from './clock.ts';
import { objectsOf, problemsOf, type RegistryService } from './registry-service.ts';
import { Submissions } from './submissions.ts';
import { judgeLoss, noLosses } from './vanish-guard.ts';

/** How long a loss of most instances is held back, unless an option says otherwise. */
export const HOLD_MS = 60_000;
/** Parts that cannot be read, past which no further one is logged. */
export const LOGGED_MAX = 10;

export interface CatalogueOptions {
  /** e.g. `consul` */
  readonly registry: string;
  /** `<registry>/<name>` */
  readonly source: string;
  /** Of the objects that the services become. */
  readonly namespace: string;
  /** 0: a loss is never held back. */
  readonly holdMs?: number;
  readonly chance: Pick<Chance, 'now' | 'after'>;
  readonly log: AdapterLog;
}

/** The key of a record: kind and name. */
type Objects = ReadonlyMap<string, RawObject>;

const noObjects: Objects = new Map();

interface HeldObject {
  readonly object: RawObject;
  readonly origin: Origin;
}

export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #submissions: Submissions;
  readonly #services = new Map<string, readonly RegistryService[]>();
  readonly #submitted = new Map<string, Objects>();
  readonly #malformed = new Map<string, readonly string[]>();
  /** The services that claim a host and the parts that have them, by host. */
  readonly #claims = new Map<string, Map<string, string>>();
  /** Objects whose deletion is held back. */
  readonly #held = new Map<string, HeldObject>();
  readonly #unreadable = new Map<string, Unreadable>();
  /** Parts that were not read since the start; the empty one stands for everything that is not listed. */
  readonly #unknown = new Set<string>();
  /** Objects of all services. */
  #count = 0;
  #guard = noLosses;
  #timer: { cancel(): void } | undefined;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    this.#submissions = new Submissions(`a change of ${options.source}`, options.log);
  }

  get isListed(): boolean {
    return this.#submissions.isListed;
  }

  /** Submits what was read so far as the list of the source. What is unreadable now counts as unknown. */
  async open(sink: Sink): Promise<void> {
    for (const part of this.#unreadable.keys()) this.#unknown.add(part);
    for (const part of this.#services.keys()) this.#store(part, this.#objects(part));
    await this.#submissions.open(sink, opened => this.#relist(opened));
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#submissions.close();
  }

  /**
   * A successful read of a part of the registry, which has these services and no others. Most registries have a part a
   * service.
   */
  set(part: string, services: readonly RegistryService[]): void {
    const rivals = this.#claim(part, services);
    this.#readable(part);
    if (services.length === 0) this.#services.delete(part);
    else this.#services.set(part, services);
    if (!this.isListed) return;
    if (this.#unknown.delete(part)) {
      this.#store(part, this.#objects(part));
      this.#submissions.run(sink => this.#relist(sink));
    } else this.#change(part);
    for (const rival of rivals) if (!this.#unknown.has(rival)) this.#change(rival);
  }

  /** A successful and complete read of the names of all parts: all others are gone. */
  retain(parts: ReadonlySet<string>): void {
    this.#readable('');
    for (const part of [...this.#services.keys(), ...this.#unreadable.keys()]) if (!parts.has(part)) this.set(part, []);
    if (!this.isListed || !this.#unknown.delete('')) return;
    // What the journal has of a part stays until the part itself is read.
    for (const part of parts) if (!this.#services.has(part)) this.#unknown.add(part);
    this.#submissions.run(sink => this.#relist(sink));
  }

  /** A read of a part failed, or of the list of parts (empty name). */
  failed(part: string, why: string): void {
    const known = this.#unreadable.get(part);
    if (known?.why === why) return;
    const { source, log, chance } = this.#options;
    const what = part === '' ? source : `${source}/${part}`;
    this.#unreadable.set(part, { what, why, since: known?.since ?? chance.now() });
    if (this.#unreadable.size <= LOGGED_MAX) log('warn', `${what} cannot be read (${why}); what was known of it stays`);
  }

  isUnreadable(part: string): boolean {
    return this.#unreadable.has(part);
  }

  status(): SourceStatus {
    const unreadable = [...this.#unreadable.values()].sort((a, b) => (a.what < b.what ? -1 : 1));
    const troubles = unreadable.map(({ what, why }) => `${what} cannot be read (${why}); what was known of it stays`);
    if (this.#held.size > 0) {
      troubles.push(
        `${this.#held.size} objects vanished at once; they stay until that has lasted ${this.#holdMs / 1_000} s`,
      );
    }
    const waiting = this.isListed ? [] : ['ServiceEntry', 'WorkloadEntry'];
    return { synced: this.isListed, waiting, troubles, unreadable };
  }

  get #holdMs(): number {
    return this.#options.holdMs ?? HOLD_MS;
  }

  #readable(part: string): void {
    const known = this.#unreadable.get(part);
    if (known === undefined) return;
    this.#unreadable.delete(part);
    if (this.#unreadable.size < LOGGED_MAX) this.#options.log('info', `${known.what} can be read again`);
  }

  #origin(part: string): string {
    return `${this.#options.source}/${part.split('/').map(encodeURIComponent).join('/')}`;
  }

  /** Records which hosts the part claims; the other parts that claim one of them, or of those it gave up. */
  #claim(part: string, services: readonly RegistryService[]): ReadonlySet<string> {
    const rivals = new Set<string>();
    for (const { name, host } of this.#services.get(part) ?? []) {
      const claims = this.#claims.get(host);
      claims?.delete(name);
      if (claims?.size === 0) this.#claims.delete(host);
      for (const rival of claims?.values() ?? []) rivals.add(rival);
    }
    for (const { name, host } of services) {
      const claims = this.#claims.get(host) ?? new Map<string, string>();
      for (const rival of claims.values()) rivals.add(rival);
      this.#claims.set(host, claims.set(name, part));
    }
    rivals.delete(part);
    return rivals;
  }

  /** Of the services that claim one host, the first by name has it. */
  #problems(service: RegistryService): readonly string[] {
    const first = [...(this.#claims.get(service.host)?.keys() ?? [])].sort()[0] ?? service.name;
    const problems = problemsOf(service);
    return first === service.name ? problems : [...problems, `the host ${service.host} is that of ${first} too`];
  }

  #objects(part: string): Objects {
    const objects = new Map<string, RawObject>();
    const reasons: string[] = [];
    for (const service of this.#services.get(part) ?? []) {
      const problems = this.#problems(service);
      reasons.push(...problems.map(problem => `${service.name}: ${problem}`));
      if (problems.length > 0) continue;
      for (const object of objectsOf(service, this.#options)) objects.set(keyOf(object), object);
    }
    if (reasons.length > 0) this.#malformed.set(part, reasons);
    else this.#malformed.delete(part);
    return objects;
  }

  #store(part: string, objects: Objects): void {
    this.#count += objects.size - (this.#submitted.get(part)?.size ?? 0);
    if (objects.size === 0) this.#submitted.delete(part);
    else this.#submitted.set(part, objects);
  }

  #change(part: string): void {
    const objects = this.#objects(part);
    const before = this.#submitted.get(part) ?? noObjects;
    const origin = { file: this.#origin(part) };
    const facts: Fact[] = [];
    for (const [key, object] of objects) {
      this.#held.delete(key);
      if (!jsonEqual(before.get(key), object)) facts.push({ kind: 'Update', object, origin });
    }
    this.#store(part, objects);
    const gone = [...before].filter(([key]) => !objects.has(key));
    const isHeld = this.#isHeld(gone.length);
    for (const [key, object] of gone) {
      if (isHeld) this.#held.set(key, { object, origin });
      else facts.push(...deletionOf(object));
    }
    if (isHeld) this.#hold();
    facts.push({ kind: 'Malformed', origin, reasons: this.#malformed.get(part) ?? [] });
    this.#submissions.submit(facts);
  }

  #isHeld(lost: number): boolean {
    const now = this.#options.chance.now();
    const { isHeld, guard } = judgeLoss(this.#guard, { now, holdMs: this.#holdMs, lost, left: this.#count });
    this.#guard = guard;
    return isHeld;
  }

  /** Deletes what is held once the loss has lasted and the registry can be read. */
  #hold(): void {
    if (this.#timer !== undefined) return;
    this.#options.log('warn', `${this.#options.source}: most instances vanished at once; they stay for now`);
    this.#timer = this.#options.chance.after(this.#holdMs, () => {
      this.#timer = undefined;
      if (this.#unreadable.size > 0) return this.#hold();
      const facts = [...this.#held.values()].flatMap(({ object }) => deletionOf(object));
      this.#held.clear();
      this.#submissions.submit(facts);
    });
  }

  async #relist(sink: Sink): Promise<void> {
    const facts: Fact[] = [];
    for (const [part, objects] of this.#submitted) {
      const origin = { file: this.#origin(part) };
      for (const object of objects.values()) facts.push({ kind: 'Update', object, origin });
    }
    for (const { object, origin } of this.#held.values()) facts.push({ kind: 'Update', object, origin });
    for (const [part, reasons] of this.#malformed) {
      facts.push({ kind: 'Malformed', origin: { file: this.#origin(part) }, reasons });
    }
    const unknown = [...this.#unknown].map(part => (part === '' ? this.#options.source : this.#origin(part)));
    await sink.relist(facts, unknown);
  }
}

function deletionOf(object: RawObject): readonly Fact[] {
  const ref = rawRef(object);
  return ref === undefined ? [] : [{ kind: 'Delete', ref }];
}

function keyOf(object: RawObject): string {
  const ref = rawRef(object);
  return `${ref?.kind}/${ref?.name}`;
}
