// The Telemetry objects that apply to a proxy, and which providers they leave in force for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go (applicableTelemetries). Access logs, tracing and metrics read the same
// short list.
//
// A level is one object; levels are least specific first: mesh, namespace, then the workload's own.

import { isObject, type JsonObject } from '../../base/json.ts';
import { byAge } from '../../model/object.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import type { Telemetry } from '../../schema/istio-types.gen.ts';
import { isAttached, targetsOf } from '../policy/attachment.ts';
import { reportsAs, type TrafficClass } from './traffic-class.ts';

/** Contents of the Telemetry objects in force, least specific first. */
export const telemetryLevels: Query<'', readonly Telemetry[]> = {
  name: 'select/telemetryLevels',
  run: reader => {
    const root = reader.mesh('rootNamespace');
    const namespace = reader.facet('namespace');
    const levels: Telemetry[] = [];
    const own = inNamespace(reader, namespace);
    if (root !== namespace) levels.push(...inNamespace(reader, root).filter(isNamespaceWide).slice(0, 1));
    levels.push(...own.filter(isNamespaceWide).slice(0, 1));
    levels.push(...own.filter(spec => !isNamespaceWide(spec) && isAttached(reader, namespace, spec)));
    return levels;
  },
};

function inNamespace(reader: ProxyReader, namespace: string): readonly Telemetry[] {
  return [...reader.objects('Telemetry', `${namespace}/`)].sort(byAge).map(obj => obj.spec as Telemetry);
}

function isNamespaceWide(spec: Telemetry): boolean {
  return Object.keys(spec.selector?.matchLabels ?? {}).length === 0 && targetsOf(spec).length === 0;
}

/** Providers named in `mesh.defaultProviders` for one of its lists. */
export function defaultProviders(
  reader: ProxyReader,
  list: 'tracing' | 'metrics' | 'accessLogging',
): readonly string[] {
  const all = reader.mesh('defaultProviders');
  const names = isObject(all) ? all[list] : undefined;
  return Array.isArray(names) ? names.filter(name => typeof name === 'string') : [];
}

/** An entry of a Telemetry list as far as the choice of providers goes. */
export interface ProviderEntry {
  readonly providers?: readonly { readonly name?: string }[];
  readonly match?: { readonly mode?: string };
}

/** True if an entry with this `match.mode` applies to the class of traffic; no mode means both. */
export function modeMatches(mode: string | undefined, traffic: TrafficClass): boolean {
  return mode === undefined || mode === 'CLIENT_AND_SERVER' || mode === reportsAs(traffic);
}

export function providerNames(entry: ProviderEntry): readonly string[] {
  return (entry.providers ?? []).map(ref => ref.name ?? '');
}

/** The definition of an extension provider in MeshConfig; its name is found without regard to case. */
export function extensionProvider(reader: Reader, name: string): JsonObject | undefined {
  const all = reader.mesh('extensionProviders');
  if (!Array.isArray(all)) return undefined;
  const wanted = name.toLowerCase();
  for (const provider of all) {
    if (isObject(provider) && typeof provider.name === 'string' && provider.name.toLowerCase() === wanted)
      return provider;
  }
  return undefined;
}
