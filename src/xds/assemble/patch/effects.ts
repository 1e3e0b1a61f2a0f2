// What the patches of a proxy do to everything that it can hold: which act, which cannot be applied where they match,
// and which resources Envoy will refuse. For analysis; generation makes the same steps and keeps the results alone.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { inboundClusterHosts } from '../../../core/select/cluster/inbound.ts';
import type { EnvoyPatch, PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import {
  addedClusters,
  addedListeners,
  clusterPatches,
  extensionPatches,
  listenerPatches,
  type OwnedPatch,
  proxyPatches,
} from '../../../core/select/patch/proxy-patches.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { routeNames } from '../../generate/common/watched-names.ts';
import { patchedCluster } from '../../generate/patch/cluster.ts';
import { patchedListener } from '../../generate/patch/listener.ts';
import type { Patched } from '../../generate/patch/outcome.ts';
import { type Refusals, refusals } from '../../generate/patch/refusals.ts';
import type { Cluster, Listener, RouteConfiguration } from '../../proto/types.gen.ts';
import { clusters, unpatchedClusters } from '../cluster/resources.ts';
import { unpatchedInboundRoutes } from '../listener/inbound.ts';
import { listeners, unpatchedListeners } from '../listener/resources.ts';
import { unpatchedRoute } from '../route/resources.ts';
import { patchedRoutes } from './routes.ts';

const TYPE = {
  listener: 'envoy.config.listener.v3.Listener',
  cluster: 'envoy.config.cluster.v3.Cluster',
  route: 'envoy.config.route.v3.RouteConfiguration',
} as const;

export interface PatchEffect extends Pick<OwnedPatch, 'filter' | 'index'> {
  /** It changes, adds or removes something. */
  readonly acts: boolean;
  /** Why it is left out where it matches. */
  readonly failures: readonly string[];
}

export interface PatchEffects {
  readonly patches: readonly PatchEffect[];
  /** `listener 0.0.0.0_80 has no filter chain`: of patched resources alone. */
  readonly refused: readonly string[];
}

/** Of the current proxy. */
export const patchEffects: Query<'', PatchEffects> = {
  name: 'patch/effects',
  run: reader => {
    const own = reader.get(proxyPatches, '');
    if (own.length === 0) return { patches: [], refused: [] };
    const found = new Found();
    ofListeners(reader, found);
    ofClusters(reader, found);
    const named = reader.get(listeners, '').map(({ message }) => message);
    for (const name of routeNames(named)) ofRoute(reader, name, found);
    if (proxyType(reader) === 'sidecar') {
      for (const routes of unpatchedInboundRoutes(reader)) ofConfiguration(reader, routes, 'SIDECAR_INBOUND', found);
    }
    found.act(reader.get(extensionPatches, ''));
    return { patches: own.map(patch => found.effectOf(patch)), refused: [...found.refused] };
  },
};

class Found {
  readonly refused = new Set<string>();
  readonly #acting = new Set<EnvoyPatch>();
  readonly #failures = new Map<EnvoyPatch, Set<string>>();

  act(patches: readonly EnvoyPatch[]): void {
    for (const patch of patches) this.#acting.add(patch);
  }

  add({ acted, failed }: Patched<unknown>, where: string): void {
    this.act(acted);
    for (const { patch, message } of failed) {
      const known = this.#failures.get(patch) ?? new Set<string>();
      this.#failures.set(patch, known.add(`${where}: ${message}`));
    }
  }

  refuse(what: string, { sentences }: Refusals): void {
    for (const sentence of sentences) this.refused.add(`${what.trim()} ${sentence}`);
  }

  effectOf({ filter, index, patch }: OwnedPatch): PatchEffect {
    return { filter, index, acts: this.#acting.has(patch), failures: [...(this.#failures.get(patch) ?? [])] };
  }
}

function ofListeners(reader: ProxyReader, found: Found): void {
  const before = new Set<Resource<Listener>>();
  for (const [context, all] of unpatchedListeners(reader)) {
    found.act(reader.get(addedListeners, context));
    const patches = reader.get(listenerPatches, context);
    for (const listener of all) {
      before.add(listener);
      if (patches === undefined) continue;
      found.add(reader.make(patchedListener, { listener, patches }), `listener ${listener.name}`);
    }
  }
  for (const listener of reader.get(listeners, '')) {
    if (!before.has(listener)) {
      const { name, message } = listener;
      found.refuse(`listener ${name}`, reader.make(refusals, { type: TYPE.listener, message }));
    }
  }
}

function ofClusters(reader: ProxyReader, found: Found): void {
  const before = new Set<Resource<Cluster>>();
  for (const [context, all] of unpatchedClusters(reader)) {
    found.act(reader.get(addedClusters, context));
    const of = reader.get(clusterPatches, context);
    for (const cluster of all) {
      before.add(cluster);
      if (of === undefined) continue;
      const hosts = context === 'SIDECAR_INBOUND' ? reader.get(inboundClusterHosts, cluster.name) : [];
      found.add(reader.make(patchedCluster, { cluster, of, hosts }), `cluster ${cluster.name}`);
    }
  }
  for (const cluster of reader.get(clusters, '')) {
    if (!before.has(cluster)) {
      const { name, message } = cluster;
      found.refuse(`cluster ${name}`, reader.make(refusals, { type: TYPE.cluster, message }));
    }
  }
}

function ofRoute(reader: ProxyReader, name: string, found: Found): void {
  const { route, context } = unpatchedRoute(reader, name) ?? {};
  if (route !== undefined && context !== undefined) ofConfiguration(reader, route.message, context, found);
}

function ofConfiguration(
  reader: ProxyReader,
  configuration: RouteConfiguration,
  context: PatchContext,
  found: Found,
): void {
  const what = `route ${configuration.name ?? ''}`;
  const { configuration: after, steps } = patchedRoutes(reader, configuration, context);
  for (const step of steps) found.add(step, what);
  if (after !== configuration) found.refuse(what, reader.make(refusals, { type: TYPE.route, message: after }));
}
