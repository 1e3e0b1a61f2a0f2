// Services that providers register in ZooKeeper, in Dubbo's layout or in Curator's: the source `zookeeper/<name>`. The
// children of each base are its services, and each service is read by itself; a watch or a new connection wakes its
// reader.
//
// Only an answer deletes: a lost connection, an expired session, a node that may not be read, or a base that is missing
// change nothing. A service without the folder of its providers has none, because the folder above was read.

import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { backoffMs } from '../kit/backoff.ts';
import { Catalogue } from '../kit/catalogue.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import { freshPace, paced } from '../kit/pace.ts';
import { type PartLoop, PartLoops } from '../kit/part-loops.ts';
import type { RegistryService } from '../kit/registry-service.ts';
import { Turns } from '../kit/turns.ts';
import { curatorService } from './curator.ts';
import { dubboServices, NO_INTERFACES } from './dubbo.ts';
import * as limits from './limits.ts';
import type { ZooKeeperSession } from './session.ts';

export interface ZooKeeperBase {
  readonly layout: 'dubbo' | 'curator';
  /** An absolute path, e.g. `/dubbo`. */
  readonly path: string;
}

export interface ZooKeeperOptions {
  /** Tells several ensembles apart. */
  readonly name: string;
  /** Not started yet; the adapter starts and stops it. */
  readonly session: ZooKeeperSession;
  readonly bases: readonly ZooKeeperBase[];
  /** Of the objects that services become. */
  readonly namespace: string;
  /** Follows the name of a Curator service in its host, e.g. `services.zookeeper`. */
  readonly domain: string;
  readonly holdMs?: number;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

/** What one reader has to do. Rejects if it cannot be read. */
interface Reader {
  readonly part: string;
  /**
   * `fired`: the paths that changed since the last read. `watch` wakes the reader when the path changes; called before
   * the request.
   */
  readonly read: (fired: ReadonlySet<string>, watch: (path: string) => void) => Promise<void>;
}

export class ZooKeeperAdapter implements Adapter {
  readonly source: string;
  readonly mayBeLate = true;
  readonly #options: ZooKeeperOptions;
  readonly #catalogue: Catalogue;
  readonly #loops = new PartLoops();
  readonly #turns = new Turns(limits.REQUESTS_MAX);
  /** The parts of each base that was listed. */
  readonly #listed = new Map<string, ReadonlySet<string>>();

  constructor(options: ZooKeeperOptions) {
    this.#options = options;
    this.source = `zookeeper/${options.name}`;
    const { namespace, holdMs, chance, log } = options;
    this.#catalogue = new Catalogue({ registry: 'zookeeper', source: this.source, namespace, holdMs, chance, log });
  }

  /** Resolves when every service has been read once; before an ensemble answers, never. */
  async start(sink: Sink): Promise<void> {
    const { session, bases } = this.#options;
    session.start();
    await Promise.all(bases.map(base => this.#watchBase(base)));
    await this.#loops.partsTried();
    if (this.#loops.isStopped) throw new Error('stopped before ZooKeeper was listed');
    await this.#catalogue.open(sink);
  }

  async stop(): Promise<void> {
    this.#loops.stop();
    await this.#options.session.stop();
    await this.#loops.ended();
    await this.#catalogue.close();
  }

  status(): SourceStatus {
    return this.#catalogue.status();
  }

  /** Resolves when the base was listed once, or may not be read. */
  #watchBase({ layout, path }: ZooKeeperBase): Promise<void> {
    const { session } = this.#options;
    const read: Reader['read'] = async (_fired, watch) => {
      await this.#ask({ op: 'sync', path });
      watch(path);
      const { absent, children } = await this.#ask({ op: 'getChildren', path });
      if (absent) {
        const made = await this.#ask({ op: 'exists', path });
        throw new Error(made.absent ? `there is no node ${path}` : `${path} has just been made`);
      }
      const names = children.filter(name => layout === 'curator' || !NO_INTERFACES.includes(name)).sort();
      this.#follow({ layout, path }, names);
    };
    return this.#loops.begin(this.#loopOf({ part: '', read }, () => session.trouble === undefined));
  }

  #follow(base: ZooKeeperBase, all: readonly string[]): void {
    const { bases } = this.#options;
    const names = all.slice(0, limits.SERVICES_MAX);
    const partOf = (name: string): string => `${base.path}/${name}`.slice(1);
    const parts = new Set(names.map(partOf));
    const before = this.#listed.get(base.path) ?? new Set();
    this.#listed.set(base.path, parts);
    for (const part of before) if (!parts.has(part)) this.#loops.endPart(part);
    if (this.#listed.size === bases.length) {
      this.#catalogue.retain(new Set([...this.#listed.values()].flatMap(each => [...each])));
    }
    if (all.length > names.length) {
      throw new Error(`${base.path} has ${all.length} services; the first ${limits.SERVICES_MAX} by name are read`);
    }
    for (const name of names) if (!this.#loops.has(partOf(name))) this.#watchService(base, partOf(name), name);
  }

  #watchService(base: ZooKeeperBase, part: string, name: string): void {
    const reader = base.layout === 'dubbo' ? this.#dubboReader(part, name) : this.#curatorReader(part, name);
    const isUnreadable = (): boolean => this.#catalogue.isUnreadable(part);
    this.#loops.beginPart(part, this.#loopOf(reader, isUnreadable));
  }

  #dubboReader(part: string, name: string): Reader {
    const path = `/${part}/providers`;
    const read: Reader['read'] = async (_fired, watch) => {
      watch(path);
      const { absent, children } = await this.#ask({ op: 'getChildren', path });
      if (absent) await this.#ask({ op: 'exists', path });
      const { services, strange } = dubboServices(name, children.slice(0, limits.INSTANCES_MAX));
      this.#take(part, services, strange);
    };
    return { part, read };
  }

  /** Reads again only the instances whose watches fired. */
  #curatorReader(part: string, name: string): Reader {
    const texts = new Map<string, string>();
    const path = `/${part}`;
    const readAll: Reader['read'] = async (fired, watch) => {
      watch(path);
      const { children } = await this.#ask({ op: 'getChildren', path });
      const ids = new Set(children.slice(0, limits.INSTANCES_MAX));
      for (const id of [...texts.keys()]) if (!ids.has(id) || fired.has(`${path}/${id}`)) texts.delete(id);
      const missing = [...ids].filter(id => !texts.has(id));
      await Promise.all(
        missing.map(async id => {
          watch(`${path}/${id}`);
          const { absent, data } = await this.#ask({ op: 'getData', path: `${path}/${id}` });
          if (!absent) texts.set(id, data.toString('utf8'));
        }),
      );
      const { service, strange } = curatorService(name, texts, this.#options.domain);
      this.#take(part, service === undefined ? [] : [service], strange);
    };
    // After a failed read it is not known which instances changed.
    const read: Reader['read'] = (fired, watch) =>
      readAll(fired, watch).catch((error: unknown) => {
        texts.clear();
        throw error;
      });
    return { part, read };
  }

  #take(part: string, services: readonly RegistryService[], strange: readonly string[]): void {
    if (strange.length > 0) {
      const { log } = this.#options;
      log('warn', `${this.source}/${part}: ${strange.length} nodes describe no instance and are left out`);
    }
    this.#catalogue.set(part, services);
  }

  #ask(request: Parameters<ZooKeeperSession['read']>[0]): ReturnType<ZooKeeperSession['read']> {
    return this.#turns.run(() => this.#options.session.read(request));
  }

  /** Tried after the first read, or after a failed one if `counts` then. */
  #loopOf(reader: Reader, counts: () => boolean): PartLoop {
    return (signal, tried) =>
      this.#loop(reader, signal, failed => {
        if (!failed || counts()) tried();
      });
  }

  async #loop({ part, read }: Reader, signal: AbortSignal, onRead: (failed: boolean) => void): Promise<void> {
    const { session, chance } = this.#options;
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
    const bounds = { minMs: limits.RETRY_MS_MIN, maxMs: limits.RETRY_MS_MAX };
    const alarm = new Alarm(session);
    let failures = 0;
    let pace = freshPace(chance.now());
    while (!signal.aborted) {
      const turn = paced(pace, chance.now());
      pace = turn.pace;
      if (turn.waitMs > 0) await sleep(chance, turn.waitMs, signal);
      try {
        await read(alarm.taken(), path => alarm.set(path));
        failures = 0;
        onRead(false);
        await Promise.race([alarm.rung(), stopped]);
      } catch (error) {
        if (signal.aborted) return;
        if (session.trouble !== undefined) {
          // The loss of the connection is one trouble, not one of every service.
          if (part === '') this.#catalogue.failed('', session.trouble);
          await Promise.race([session.connected(), stopped]);
          continue;
        }
        failures++;
        this.#catalogue.failed(part, (error as Error).message);
        onRead(true);
        await sleep(chance, backoffMs(failures, chance.random(), bounds), signal);
      }
    }
  }
}

/** The watches of one reader: each path is watched once until it fires. */
class Alarm {
  readonly #session: ZooKeeperSession;
  readonly #set = new Set<string>();
  readonly #fired = new Set<string>();
  #ring: () => void = () => undefined;

  constructor(session: ZooKeeperSession) {
    this.#session = session;
  }

  set(path: string): void {
    if (this.#set.has(path)) return;
    this.#set.add(path);
    void this.#session.changed(path).then(() => {
      this.#set.delete(path);
      this.#fired.add(path);
      this.#ring();
    });
  }

  /** The paths that fired since the last call. */
  taken(): ReadonlySet<string> {
    const taken = new Set(this.#fired);
    this.#fired.clear();
    return taken;
  }

  /** Resolves when a path has fired. */
  rung(): Promise<void> {
    if (this.#fired.size > 0) return Promise.resolve();
    return new Promise(resolve => {
      this.#ring = resolve;
    });
  }
}
