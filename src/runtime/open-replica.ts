// The replica that a process is, if `--journal` names a world log: connection, log, lease, mirror and peers, put
// together with the world and the sources that it reads while it leads.

import type { Adapter } from '../adapters/adapter.ts';
import type { Route } from '../admin/http.ts';
import type { Metrics } from '../admin/metrics.ts';
import { answerReplica, askReplicas, type ReplicaView, replicaRoutes } from '../admin/replica-pages.ts';
import { type Json, jsonEqual } from '../core/base/json.ts';
import { featureOf } from '../core/mesh/features.ts';
import { type Settings, settingsToJson } from '../core/mesh/settings.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { AFTER_LOSS } from '../replicas/mirror.ts';
import { NatsLink } from '../replicas/nats/connection.ts';
import { JetStreamLog, UnfitStream } from '../replicas/nats/jetstream-log.ts';
import { NatsLease } from '../replicas/nats/lease.ts';
import { NatsPeers } from '../replicas/nats/peer-channel.ts';
import { CATCH_UP_MS_MAX, Peers } from '../replicas/peers.ts';
import { Replica } from '../replicas/replica.ts';
import { isLocalSource } from '../replicas/which-log.ts';
import type { Clock } from './clock.ts';
import { LedAdapters } from './led-adapters.ts';
import type { Log } from './log.ts';
import { ReplicaIntegrity } from './replica-integrity.ts';
import type { ReplicaSettings } from './replica-settings.ts';
import type { ServeOptions } from './serve-options.ts';
import { settingsFacts } from './start.ts';
import { StartFault } from './start-fault.ts';
import type { World } from './world.ts';

/** The start waits so long for the servers of the log; after that they are waited for in the background. */
const REACH_MS_MAX = 10_000;
const PREPARE_MS = 1_000;
const MS_PER_S = 1_000;

export interface ReplicaParts {
  readonly world: World;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly adapters: readonly Adapter[];
  /** The same adapters, never started. */
  readonly again: () => Promise<readonly Adapter[]>;
}

export interface OpenedReplica {
  readonly replica: Replica;
  readonly peers: Peers;
  readonly integrity: ReplicaIntegrity;
  readonly adapters: readonly Adapter[];
  /** Records what sources say, while this replica leads. */
  readonly writer: Pick<World, 'state' | 'listen' | 'recordNews' | 'record'>;
  /** Called when this replica begins to lead, and when it ends. */
  onTurn(listener: (leads: boolean) => void): void;
  /** Called in each term of this replica once it has listed every source: what writes may begin. */
  onListed(listener: () => void): void;
  /** The debug pages, those about proxies with the proxies of every replica. */
  pages(own: ReadonlyMap<string, Route>): ReadonlyMap<string, Route>;
  /** What each other replica answers on a page; undefined: nothing, or it is behind. */
  ask(path: string, query: URLSearchParams): Promise<readonly (Json | undefined)[]>;
  /** Begins to follow, and to lead if no other does. */
  start(): void;
  stop(): Promise<void>;
}

/**
 * Undefined: this process is no replica. Rejects with a StartFault if the stream cannot be a world log, or a file of
 * the connection cannot be read.
 */
export async function openReplica(
  { replica: given, settings }: Pick<ServeOptions, 'replica' | 'settings'>,
  parts: ReplicaParts,
): Promise<OpenedReplica | undefined> {
  if (given === undefined) return undefined;
  const { world, journal, clock, log: say } = parts;
  refuseForeign(journal.path, world.state);
  const { address, id, streamReplicas: replicas } = given;
  const { mesh } = address;
  const link = linkOf(given, say);
  const log = new JetStreamLog({ link, mesh, replicas });
  const late = { ms: featureOf(settings, 'PILOT_REMOTE_CLUSTER_TIMEOUT'), after: clock.after };
  const onListed: (() => void)[] = [];
  const led = new LedAdapters({
    ...{ first: parts.adapters, again: parts.again, state: () => world.state, log: say, late },
    onListed: () => {
      for (const tell of onListed) tell();
    },
  });
  const opened: { peers?: Peers } = {};
  const turns: ((leads: boolean) => void)[] = [leads => (leads ? led.lead() : led.follow())];
  const turned = (leads: boolean): void => {
    for (const tell of turns) tell(leads);
  };
  const integrity = new ReplicaIntegrity({
    ...{ id, world, journal, clock, log: say, replica: () => replica, peers: () => peers },
  });
  const { watch } = integrity;
  const replica: Replica = new Replica({
    ...{ id, log, journal, world, clock, say },
    onCheckPoint: state => watch.checkPoint(state),
    lease: new NatsLease(link, mesh, replicas),
    furthestPeer: () => opened.peers?.furthest() ?? 0,
    onLead: () => {
      const begin = replica.recordNews(state => settingsFacts(state, settings));
      begin.then(
        () => turned(true),
        (error: unknown) => say('warn', `the sources are not read: ${messageOf(error)}`),
      );
    },
    onFollow: () => turned(false),
  });
  const channel = new NatsPeers(link, mesh);
  const peers: Peers = new Peers({
    ...{ id, clock, say, channel, mirror: replica.mirror },
    term: () => replica.term,
    digest: () => watch.digest,
    onHeard: () => watch.heard(),
    withdrawn: () => integrity.withdrawn,
  });
  opened.peers = peers;
  world.listen({ onFolded: state => led.onState(state) });
  warnOfOtherSettings(world, settings, say);
  sayWhenFrozen(replica.mirror, clock, say);
  measure(parts.metrics, replica, peers, integrity);
  const { prepared } = await prepareSoon(log, world.state.worldLog === undefined, link, say);
  return {
    ...{ replica, peers, integrity, adapters: led.adapters, writer: writerOf(world, replica) },
    onTurn: listener => turns.push(listener),
    onListed: listener => onListed.push(listener),
    ask: (path, query) => {
      const position = (): number => replica.mirror.position.position;
      return askReplicas(path, query, { ask: question => peers.ask(question), position });
    },
    pages: own => pagesOf(own, { channel, id, replica, peers }),
    start: () => {
      peers.start();
      void prepared.then(isFit => {
        if (isFit) replica.start();
      });
    },
    stop: async () => {
      peers.stop();
      await replica.stop();
      await link.close();
    },
  };
}

/** Objects that no log gave would be in force at this replica alone. */
function refuseForeign(path: string, { worldLog, records }: State): void {
  if (worldLog !== undefined) return;
  for (const { source } of records.values()) {
    if (isLocalSource(source)) continue;
    throw new StartFault(
      `--journal-mirror: ${path} has objects of ${source} that are of no log: it is the journal of a single process; ` +
        'carry it into the log with `periplus journal move`, and name a file that is not there',
    );
  }
}

function linkOf(given: ReplicaSettings, say: Log): NatsLink {
  try {
    return new NatsLink({ ...given, name: given.id, say });
  } catch (error) {
    throw new StartFault(`--journal: ${messageOf(error)}`);
  }
}

function writerOf(world: World, replica: Replica): OpenedReplica['writer'] {
  return {
    get state() {
      return world.state;
    },
    listen: listener => world.listen(listener),
    recordNews: news => replica.recordNews(news),
    record: facts => replica.recordNews(() => facts),
  };
}

function pagesOf(
  own: ReadonlyMap<string, Route>,
  { channel, id, replica, peers }: { channel: NatsPeers; id: string; replica: Replica; peers: Peers },
): ReadonlyMap<string, Route> {
  const { mirror } = replica;
  const view: ReplicaView = {
    rows: () => [peers.own(), ...peers.others()],
    ask: question => peers.ask(question),
    position: () => mirror.position.position,
    reached: position => peers.reached(position, CATCH_UP_MS_MAX),
    troubles: () => troublesOf(mirror),
  };
  channel.onQuestion(id, question => answerReplica(question, own, view));
  return replicaRoutes(own, view);
}

function troublesOf({ lost, unreachableSince }: Replica['mirror']): readonly string[] {
  const found: string[] = [];
  if (lost !== undefined) {
    found.push(`world log: not the one that was followed (${lost}); nothing more is folded; ${AFTER_LOSS}`);
  }
  if (lost === undefined && unreachableSince !== undefined) {
    const since = new Date(unreachableSince).toISOString();
    found.push(`world log: out of reach since ${since}; what was known then is served`);
  }
  return found;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Resolves when the stream is known to be fit, or after REACH_MS_MAX; `prepared` is false if it is not fit after all.
 */
async function prepareSoon(
  log: JetStreamLog,
  mayCreate: boolean,
  link: NatsLink,
  say: Log,
): Promise<{ readonly prepared: Promise<boolean> }> {
  const found: { unfit?: UnfitStream } = {};
  const trying = async (): Promise<boolean> => {
    for (let said = ''; ; ) {
      try {
        const how = await log.prepare(mayCreate);
        say('info', `${log.name}: ${how === 'found' ? 'its settings are right' : how}`);
        return true;
      } catch (error) {
        if (link.isClosed) return false;
        if (error instanceof UnfitStream) {
          found.unfit = error;
          say('error', error.message);
          return false;
        }
        const why = messageOf(error);
        if (why !== said) say('warn', `the world log cannot be opened yet (${why}); trying again`);
        said = why;
        await new Promise(resolve => setTimeout(resolve, PREPARE_MS).unref());
      }
    }
  };
  const prepared = trying();
  const late = new Promise<void>(resolve => setTimeout(resolve, REACH_MS_MAX).unref());
  await Promise.race([prepared, late]);
  if (found.unfit === undefined) return { prepared };
  await link.close();
  throw new StartFault(`--journal: ${found.unfit.message}`);
}

/** After the start, which says by itself what it waits for. */
function sayWhenFrozen(mirror: Replica['mirror'], clock: Clock, say: Log): void {
  let since = mirror.unreachableSince;
  let wasRead = false;
  mirror.listen(() => {
    const now = mirror.unreachableSince;
    if (now === since || mirror.lost !== undefined) return;
    if (now !== undefined) {
      say('warn', 'the world log is out of reach: what is known is served, proxies are accepted, changes wait');
    } else if (wasRead && since !== undefined) {
      say('info', `the world log is read again, ${Math.round((clock.now() - since) / MS_PER_S)} s later`);
    }
    wasRead ||= now === undefined;
    since = now;
  });
}

function warnOfOtherSettings(world: World, settings: Settings, say: Log): void {
  const own = settingsToJson(settings);
  let seen = world.state.settings;
  world.listen({
    onFolded: state => {
      if (state.settings === seen) return;
      seen = state.settings;
      if (!jsonEqual(settingsToJson(seen), own)) {
        say(
          'warn',
          'the flags or feature variables of this replica differ from those of the leader, which are in force',
        );
      }
    },
  });
}

function measure(metrics: Metrics, replica: Replica, peers: Peers, integrity: ReplicaIntegrity): void {
  const { mirror } = replica;
  metrics.gauge(
    'periplus_world_position',
    'Last entry of the world log that is folded.',
    () => mirror.position.position,
  );
  metrics.gauge('periplus_world_leads', '1 while this replica writes what the sources say.', () =>
    replica.term === undefined ? 0 : 1,
  );
  metrics.gauge(
    'periplus_world_frozen_since_seconds',
    'Unix time since which the world log cannot be reached; 0: it can.',
    () => (mirror.unreachableSince ?? 0) / 1_000,
  );
  metrics.gauge('periplus_world_lost', '1 if the world log is not the one that was followed.', () =>
    mirror.lost === undefined ? 0 : 1,
  );
  metrics.gauge('periplus_world_withdrawn', '1 while the state is doubted and no proxy is served.', () =>
    integrity.withdrawn === undefined ? 0 : 1,
  );
  metrics.gauge('periplus_world_replicas', 'Replicas heard of, this one included.', () => peers.others().length + 1);
  metrics.gauge('periplus_world_behind', 'Streams that were served from behind another replica.', () => peers.behind);
}
