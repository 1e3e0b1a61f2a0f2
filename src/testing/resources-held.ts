// The versions of everything that a connected proxy holds: the simplest way to say that two states configure it alike.
// The generators are loaded by the first call, so that importing `periplus/testing` stays cheap.

import type { State } from '../core/state.ts';

/**
 * `<name> <version>` of each resource that the proxy subscribes to, by type; a version is a hash of the content.
 * Rejects if no proxy is connected as that.
 */
export async function resourcesHeld(state: State, connection: string): Promise<readonly string[]> {
  const proxy = state.proxies.get(connection);
  if (proxy === undefined) throw new Error(`no proxy is connected as ${connection}`);
  const [{ Engine }, { resourceSources }] = await Promise.all([
    import('../xds/engine/engine.ts'),
    import('../xds/assemble/types.ts'),
  ]);
  return [...new Engine(resourceSources).viewOf(state, proxy).values()].flatMap(set =>
    [...set.resources.values()].map(({ name, version }) => `${name} ${version}`),
  );
}
