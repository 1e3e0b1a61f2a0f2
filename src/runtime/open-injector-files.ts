// The files that the injector's configuration may be mounted in, where istiod looks for them. Without any nothing is
// opened, unless the journal has their objects from an earlier run: those have to go.

import type { Adapter } from '../adapters/adapter.ts';
import { hasInjectorFiles, injectorFiles, injectorSource } from '../adapters/file/injector-files.ts';
import { injectorConfigMap } from '../admission/inject/setup.ts';
import type { State } from '../core/state.ts';
import { chanceOf } from './adapters.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { ServeOptions } from './serve-options.ts';

/** Source: Istio pilot/pkg/bootstrap/options.go (InjectionOptions), pilot/cmd/pilot-discovery/app/cmd.go. */
export const INJECT_FOLDER = './var/lib/istio/inject';

export function openInjectorFiles(
  { settings, injects = true, injectFolder: folder = INJECT_FOLDER }: ServeOptions,
  clock: Clock,
  log: Log,
  { synced }: Pick<State, 'synced'>,
): readonly Adapter[] {
  const { clusterId: cluster, systemNamespace: namespace, revision } = settings;
  const isUsed = injects && hasInjectorFiles(folder);
  if (!isUsed && !synced.has(injectorSource(cluster))) return [];
  const name = injectorConfigMap(revision);
  return [injectorFiles({ folder, cluster, namespace, name, chance: chanceOf(clock), log })];
}
