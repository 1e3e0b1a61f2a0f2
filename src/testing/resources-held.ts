// The versions of everything that a connected proxy holds: the simplest way to say that two states configure it alike.

import type { State } from '../core/state.ts';
import { resourceSources } from '../xds/assemble/types.ts';
import { Engine } from '../xds/engine/engine.ts';

/** `<name> <version>` of each resource that the proxy subscribes to, by type; a version is a hash of the content. */
export function resourcesHeld(state: State, connection: string): readonly string[] {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) throw new Error(`no proxy is connected as ${connection}`);
  return [...new Engine(resourceSources).viewOf(state, proxy).values()].flatMap(set =>
    [...set.resources.values()].map(({ name, version }) => `${name} ${version}`),
  );
}
