// From a journal to a world that can be served: folds the history, records what this start changes, and makes the sinks
// of the adapters.

import type { Sink } from '../adapters/adapter.ts';
import { jsonEqual } from '../core/base/json.ts';
import type { Fact, Unrecorded } from '../core/event.ts';
import { holdsFrom, holdsMesh, newsIn, newsInKinds, newsInList } from '../core/fold/novelty.ts';
import { type Settings, settingsToJson } from '../core/mesh/settings.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { foldHistory } from '../offline/load-state.ts';
import {
  type MeshConfigSource,
  meshTexts as meshTextsIn,
  type ReadMeshText,
  withMeshFacts,
  withMeshFactsOfList,
} from '../offline/mesh-config-map.ts';
import { CallOrder } from './call-order.ts';
import type { Clock } from './clock.ts';
import {
  type InjectorTexts,
  injectorTexts as injectorTextsIn,
  type ReadBatch,
  type UnreadTexts,
  withoutUnread,
} from './injector-texts.ts';
import type { Log } from './log.ts';
import type { MeshTexts } from './mesh-texts.ts';
import { World, type WorldOptions } from './world.ts';

export interface StartOptions {
  readonly settings: Settings;
  readonly strict: boolean;
  /** Takes what cannot be recorded at the end; see WorldOptions. */
  readonly spill?: WorldOptions['spill'];
  readonly clock: Clock;
  readonly log: Log;
  /** The settings are the world log's, which several replicas follow: none are recorded here. */
  readonly isReplica?: boolean;
  /** See WorldOptions. */
  readonly restoredMin?: WorldOptions['restoredMin'];
}

export interface Started {
  readonly world: World;
  readonly snapshot: number;
  /** Milliseconds since the epoch; 0 for a new journal. */
  readonly asOf: number;
  /** The proxies that were connected when the journal was last written. */
  readonly connected: readonly ProxyRecord[];
}

/**
 * Folds from the newest snapshot, then records what the start changes: new settings, disconnects of all proxies, and
 * `Rejected` for events that this release cannot fold. `snapshot`: its seq, 0 if there is none. `asOf`: when the
 * journal was last written. Rejects with a JournalFault.
 */
export async function startWorld(
  journal: Journal,
  { settings, strict, spill, clock, log, isReplica = false, restoredMin }: StartOptions,
): Promise<Started> {
  const failed: Unrecorded[] = [];
  const { state, snapshot, events } = await foldHistory(journal, {
    fromSnapshot: true,
    onFailure: (seq, reason) => failed.push({ source: 'runtime', kind: 'Rejected', rejected: seq, reason }),
  });
  log('info', `journal ${journal.path}: ${events} events folded up to ${state.seq}, from snapshot ${snapshot}`);
  const world = new World({ journal, state, clock, strict, spill, log, restoredMin });
  const lost = lostFacts(journal, clock, log);
  await world.recordNews(now => [
    ...lost,
    ...failed,
    ...(isReplica ? [] : settingsFacts(now, settings)),
    ...disconnects(now),
  ]);
  return { world, snapshot, asOf: state.time, connected: [...state.proxies.values()] };
}

/** Logs which events the journal held once and does not any more, and records a gap for them. */
function lostFacts(journal: Journal, clock: Clock, log: Log): readonly Unrecorded[] {
  const lost = journal.lost();
  if (lost === undefined) return [];
  const what = lost.from === lost.to ? `event ${lost.from}` : `events ${lost.from} to ${lost.to}`;
  log(
    'error',
    `${journal.path}: ${what} were recorded and are missing (the write-ahead log was cut off, or this is an older copy); going on after ${lost.from - 1}`,
  );
  const reason = `${what} were recorded and are missing from the file`;
  return [{ source: 'runtime', kind: 'Gap', reason, since: clock.now(), lost: lost.to - lost.from + 1 }];
}

/** The settings of this start, if they are not those that the state has. */
export function settingsFacts(state: State, settings: Settings): readonly Unrecorded[] {
  const wanted = settingsToJson(settings);
  if (state.seq > 0 && jsonEqual(settingsToJson(state.settings), wanted)) return [];
  return [{ source: 'runtime', kind: 'Engine', settings: wanted }];
}

function disconnects(state: State): readonly Unrecorded[] {
  const reason = 'the control plane was restarted';
  return [...state.proxies.keys()].map(connection => ({
    source: 'xds',
    kind: 'ProxyDisconnected',
    connection,
    reason,
  }));
}

export interface SinkOptions {
  readonly sharedMeshConfig?: string;
  /** Parses mesh ConfigMaps beside the event loop; without it they are parsed at once. */
  readonly meshTexts?: Pick<MeshTexts, 'read'>;
  /** As above for the ConfigMap of the injector. */
  readonly injectorTexts?: Pick<InjectorTexts, 'read'>;
}

/**
 * The sink of an adapter: it records only facts that change something (core/fold/novelty.ts), in the order of the
 * calls: what comes after a ConfigMap of the mesh or of the injector waits until that is parsed.
 */
export function sinkOf(
  world: Pick<World, 'state' | 'recordNews'>,
  source: string,
  { sharedMeshConfig: shared, meshTexts, injectorTexts }: SinkOptions = {},
): Sink {
  const order = new CallOrder();
  const from = function* (pieces: Iterable<Fact | undefined>): IterableIterator<Unrecorded | undefined> {
    for (const fact of pieces) yield fact === undefined ? undefined : { source, ...fact };
  };
  type Facts = (state: State, mesh: MeshConfigSource, read: ReadBatch, texts?: ReadMeshText) => Pieces;
  const record = async (all: readonly Fact[], facts: Facts): Promise<void> => {
    // Of now: which texts are parsed and which are read is one decision.
    const { settings } = world.state;
    const mesh = ({ records }: Pick<State, 'records'>): MeshConfigSource => ({
      state: { settings, records },
      source,
      shared,
    });
    const ofMesh = meshTexts === undefined ? [] : meshTextsIn(mesh(world.state), all);
    const ofInjector = injectorTexts === undefined ? [] : injectorTextsIn(settings, source, all);
    const isRead = ofMesh.length + ofInjector.length === 0;
    const prepare = async () => ({
      texts: await meshTexts?.read(ofMesh),
      unread: await injectorTexts?.read(ofInjector),
    });
    await order.call(isRead ? undefined : prepare, prepared => {
      const read = withoutUnread(settings, source, all, prepared?.unread ?? NONE_UNREAD);
      return world.recordNews(state => from(facts(state, mesh(state), read, prepared?.texts)));
    });
  };
  return {
    submit: all =>
      record(all, (state, mesh, { batch }, texts) => newsIn(state, source, withMeshFacts(mesh, batch, texts))),
    relist: (all, unreadable) =>
      record(all, function* (state, mesh, { batch, kept }, texts) {
        yield* newsInList(state, source, withMeshFactsOfList(mesh, batch, unreadable, texts), unreadable, kept);
        yield { kind: 'Synced' };
      }),
    holds: what => ('path' in what ? holdsFrom(world.state, source, what.path) : holdsMesh(world.state, what.mesh)),
    relistKinds: (kinds, all, listed = []) =>
      record(all, (state, mesh, { batch, kept }, texts) => {
        const list = kinds.includes('ConfigMap') ? withMeshFactsOfList(mesh, batch, [], texts) : batch;
        return newsInKinds(state, source, kinds, list, [...listed, ...kept]);
      }),
  };
}

type Pieces = Iterable<Fact | undefined>;
const NONE_UNREAD: UnreadTexts = new Map();
