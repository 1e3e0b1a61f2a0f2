// The services of a registry as its adapter last read them, and the facts that follow. An adapter reports successful reads;
// a failed read changes nothing here but the status, so what was known stays.
//
// Invariant: what the sink holds of a service is what its last successful read said, except instances whose loss is held
// back (vanish-guard.ts). A service that could not be read since the start is unknown: the journal's objects of it stay,
// found by their origin `<source>/<service>`; its first successful read is a list, which finds the deletions.

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

interface Held {
  readonly object: RawObject;
  readonly origin: Origin;
}

export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #submissions: Submissions;
  readonly #services = new Map<string, RegistryService>();
  readonly #submitted = new Map<string, Objects>();
  readonly #malformed = new Map<string, readonly string[]>();
  /** The services that claim a host, by host. */
  readonly #claims = new Map<string, Set<string>>();
  /** Objects whose deletion is held back. */
  readonly #held = new Map<string, Held>();
  readonly #unreadable = new Map<string, Unreadable>();
  /** Not read since the start, of services (`name`) or of everything that is not listed (empty). */
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
    for (const name of this.#unreadable.keys()) this.#unknown.add(name);
    for (const service of this.#services.values()) this.#store(service.name, this.#objects(service));
    await this.#submissions.open(sink, opened => this.#relist(opened));
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#submissions.close();
  }

  /** A successful read of a service. */
  set(service: RegistryService): void {
    const { name } = service;
    const rivals = this.#claim(name, service.host);
    this.#readable(name);
    this.#services.set(name, service);
    if (!this.isListed) return;
    if (this.#unknown.delete(name)) {
      this.#store(name, this.#objects(service));
      this.#submissions.run(sink => this.#relist(sink));
    } else this.#change(name, this.#objects(service));
    this.#reconsider(rivals);
  }

  /** A successful read by which the service is gone. */
  remove(name: string): void {
    const rivals = this.#claim(name, undefined);
    this.#readable(name);
    this.#services.delete(name);
    this.#malformed.delete(name);
    if (!this.isListed) return;
    if (this.#unknown.delete(name)) this.#submissions.run(sink => this.#relist(sink));
    else this.#change(name, noObjects);
    this.#reconsider(rivals);
  }

  /** A successful and complete read of all names: all others are gone. */
  retain(names: ReadonlySet<string>): void {
    this.#readable('');
    for (const name of [...this.#services.keys(), ...this.#unreadable.keys()]) if (!names.has(name)) this.remove(name);
    if (!this.isListed || !this.#unknown.delete('')) return;
    // What the journal has of a service stays until the service itself is read.
    for (const name of names) if (!this.#services.has(name)) this.#unknown.add(name);
    this.#submissions.run(sink => this.#relist(sink));
  }

  /** A read of a service failed, or of the list of services (empty name). */
  failed(name: string, why: string): void {
    const known = this.#unreadable.get(name);
    if (known?.why === why) return;
    const { source, log, chance } = this.#options;
    const what = name === '' ? source : `${source}/${name}`;
    this.#unreadable.set(name, { what, why, since: known?.since ?? chance.now() });
    log('warn', `${what} cannot be read (${why}); what was known of it stays`);
  }

  isUnreadable(name: string): boolean {
    return this.#unreadable.has(name);
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

  #readable(name: string): void {
    const known = this.#unreadable.get(name);
    if (known === undefined) return;
    this.#unreadable.delete(name);
    this.#options.log('info', `${known.what} can be read again`);
  }

  #origin(name: string): string {
    return `${this.#options.source}/${encodeURIComponent(name)}`;
  }

  /** Records which host the service claims; the other services whose claims are affected. */
  #claim(name: string, host: string | undefined): ReadonlySet<string> {
    const before = this.#services.get(name)?.host;
    const rivals = new Set<string>();
    if (before !== undefined && before !== host) {
      const claims = this.#claims.get(before);
      claims?.delete(name);
      if (claims?.size === 0) this.#claims.delete(before);
      for (const rival of claims ?? []) rivals.add(rival);
    }
    if (host === undefined) return rivals;
    const claims = this.#claims.get(host) ?? new Set();
    for (const rival of claims) if (rival !== name) rivals.add(rival);
    this.#claims.set(host, claims.add(name));
    return rivals;
  }

  #reconsider(names: ReadonlySet<string>): void {
    for (const name of names) {
      const service = this.#services.get(name);
      if (service !== undefined && !this.#unknown.has(name)) this.#change(name, this.#objects(service));
    }
  }

  /** Of the services that claim one host, the first by name has it. */
  #problems(service: RegistryService): readonly string[] {
    const problems = problemsOf(service);
    const first = [...(this.#claims.get(service.host) ?? [])].sort()[0] ?? service.name;
    return first === service.name ? problems : [...problems, `the host ${service.host} is that of ${first} too`];
  }

  #store(name: string, objects: Objects): void {
    this.#count += objects.size - (this.#submitted.get(name)?.size ?? 0);
    if (objects.size === 0) this.#submitted.delete(name);
    else this.#submitted.set(name, objects);
  }

  #objects(service: RegistryService): Objects {
    const problems = this.#problems(service);
    if (problems.length > 0) this.#malformed.set(service.name, problems);
    else this.#malformed.delete(service.name);
    if (problems.length > 0) return noObjects;
    return new Map(objectsOf(service, this.#options).map(object => [keyOf(object), object]));
  }

  #change(name: string, objects: Objects): void {
    const before = this.#submitted.get(name) ?? noObjects;
    const origin = { file: this.#origin(name) };
    const facts: Fact[] = [];
    for (const [key, object] of objects) {
      this.#held.delete(key);
      if (!jsonEqual(before.get(key), object)) facts.push({ kind: 'Update', object, origin });
    }
    this.#store(name, objects);
    const gone = [...before].filter(([key]) => !objects.has(key));
    const isHeld = this.#isHeld(gone.length);
    for (const [key, object] of gone) {
      if (isHeld) this.#held.set(key, { object, origin });
      else facts.push(...deletionOf(object));
    }
    if (isHeld) this.#hold();
    facts.push({ kind: 'Malformed', origin, reasons: this.#malformed.get(name) ?? [] });
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
    for (const [name, objects] of this.#submitted) {
      const origin = { file: this.#origin(name) };
      for (const object of objects.values()) facts.push({ kind: 'Update', object, origin });
    }
    for (const { object, origin } of this.#held.values()) facts.push({ kind: 'Update', object, origin });
    for (const [name, reasons] of this.#malformed) {
      facts.push({ kind: 'Malformed', origin: { file: this.#origin(name) }, reasons });
    }
    const unknown = [...this.#unknown].map(name => (name === '' ? this.#options.source : this.#origin(name)));
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
