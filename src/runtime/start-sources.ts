// Starts the adapters, each with its sink. Files come first: a mistake in their folder ends the start. Adapters whose
// questions follow from the state start when the others are ready.

import type { Adapter } from '../adapters/adapter.ts';
import { whyNot } from '../adapters/file/why-not.ts';
import type { AdapterOptions } from './adapters.ts';
import type { InjectorTexts } from './injector-texts.ts';
import { LedAdapter } from './led-adapters.ts';
import type { Log } from './log.ts';
import type { MeshTexts } from './mesh-texts.ts';
import type { Sources } from './sources.ts';
import { sinkOf } from './start.ts';
import { StartFault } from './start-fault.ts';
import type { World } from './world.ts';

export interface SourceParts {
  readonly adapters: readonly Adapter[];
  readonly sources: Sources;
  readonly world: World;
  /** Where the facts of a source are recorded; default: `world`. */
  readonly worldOf?: (adapter: Adapter) => Pick<World, 'state' | 'recordNews'>;
  readonly meshTexts: MeshTexts;
  readonly injectorTexts?: InjectorTexts;
  readonly log: Log;
}

/**
 * Resolves when files have been read. For sources that may be unavailable, such as an API server, only `/ready` waits.
 */
export async function startSources(
  options: AdapterOptions & { readonly sharedMeshConfig?: string },
  { adapters, sources, world, worldOf = () => world, meshTexts, injectorTexts, log }: SourceParts,
): Promise<void> {
  const failed =
    ({ source }: Adapter) =>
    (error: unknown) =>
      log('info', `${source}: ${error instanceof Error ? error.message : String(error)}`);
  const { sharedMeshConfig } = options;
  const start = (adapter: Adapter): Promise<void> =>
    sources.start(adapter, sinkOf(worldOf(adapter), adapter.source, { sharedMeshConfig, meshTexts, injectorTexts }));
  const stateful = adapters.filter(adapter => adapter.onState !== undefined);
  for (const adapter of stateful) {
    world.listen({ onFolded: state => adapter.onState?.(state) });
    adapter.onState?.(world.state);
  }
  for (const adapter of adapters) {
    if (stateful.includes(adapter)) continue;
    if (adapter.source.startsWith('file/') && !(adapter instanceof LedAdapter)) {
      await start(adapter).catch((error: unknown) => {
        throw new StartFault(`--configDir ${options.configDir ?? ''}: ${whyNot(error)}`);
      });
    } else start(adapter).catch(failed(adapter));
  }
  for (const adapter of stateful) {
    const due = adapter.startsAfterLists === true ? sources.whenListed() : sources.whenIndependentReady();
    due.then(() => start(adapter)).catch(failed(adapter));
  }
}
