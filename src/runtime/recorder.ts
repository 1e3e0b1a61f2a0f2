// `periplus record`: sources, fold and journal, without serving. The fold drops facts that change nothing, as in a
// control plane, so the journal is the one that a control plane would write, without proxies.

import { VERSION } from '../admin/version.ts';
import type { Effect } from '../core/effect.ts';
import type { State } from '../core/state.ts';
import { type AdapterOptions, openAdapters } from './adapters.ts';
import type { Clock } from './clock.ts';
import { openConfigSourceSet } from './config-source-set.ts';
import type { Log } from './log.ts';
import { MeshTexts } from './mesh-texts.ts';
import { openRemoteClusters } from './open-remote-clusters.ts';
import { type JournalOptions, openWorld, retentionOf } from './open-world.ts';
import { Reporter } from './reporter.ts';
import { SNAPSHOT_EVENTS, Snapshotter } from './snapshots.ts';
import { Sources } from './sources.ts';
import { startSources } from './start-sources.ts';
import type { World } from './world.ts';

export interface Recorder {
  readonly world: World;
  readonly sources: Sources;
  /** Finishes pending writes and closes. Idempotent. */
  stop(): Promise<void>;
}

/** Interval of progress lines; none if no event was recorded. */
export const PROGRESS_MS = 60_000;

/** Rejects if the journal or a source cannot be opened; everything that was opened is closed again. */
export async function startRecorder(
  options: AdapterOptions & JournalOptions & { readonly sharedMeshConfig?: string },
  clock: Clock,
  log: Log,
): Promise<Recorder> {
  const adapters = await openAdapters(options, clock, log, VERSION);
  const { journal, world, snapshot, asOf } = await openWorld(options, clock, log);
  const snapshotter = new Snapshotter(journal, snapshot, log, SNAPSHOT_EVENTS, retentionOf(options, clock));
  const remote = openRemoteClusters(options, { world, clock, log });
  const remotes = [remote, openConfigSourceSet(options.settings, { world, adapters, clock, log })];
  const sources = new Sources({ adapters, state: world.state, asOf, clock, log, remotes });
  const reporter = new Reporter(log, adapters);
  world.listen({
    onFolded: (state: State, _request: unknown, effects: readonly Effect[]) => {
      reporter.folded(state, effects);
      if (world.durable) snapshotter.consider(state);
    },
  });
  let reportedSeq = world.state.seq;
  // Also keeps the process alive while no source has a connection.
  const progress = setInterval(() => {
    if (world.state.seq === reportedSeq) return;
    log('info', `${world.state.seq - reportedSeq} events recorded, ${world.state.seq} in all`);
    reportedSeq = world.state.seq;
  }, PROGRESS_MS);
  const meshTexts = new MeshTexts();
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    clearInterval(progress);
    await meshTexts.close();
    await sources.stop();
    await world.stop();
    await snapshotter.finish(world.state);
    await journal.close();
  };
  const recorder: Recorder = { world, sources, stop: () => (stopped ??= stop()) };
  try {
    await startSources(options, { adapters, sources, world, meshTexts, log });
    return recorder;
  } catch (error) {
    await recorder.stop();
    throw error;
  }
}
