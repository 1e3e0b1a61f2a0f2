// The Telemetry objects that apply to a proxy, and which providers they leave in force for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go (applicableTelemetries). Access logs, tracing and metrics read the same
// short list.
//
// A level is one object; levels are least specific first: mesh, namespace, then the workload's own.

import { providerOfAnyCase } from '../../mesh/providers.ts';
import { byAge } from '../../model/object.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import type { MeshConfig_ExtensionProvider, Telemetry } from '../../schema/istio-types.gen.ts';
import { isAttached, namespaceOf, targetsOf } from '../policy/attachment.ts';
import { type PolicySubject, reportsAs, type TrafficClass } from './traffic-class.ts';

/**
 * Contents of the Telemetry objects in force, least specific first. Argument: the object that the traffic is for; its
 * namespace comes in place of the proxy's for objects that are attached.
 */
export const telemetryLevels: Query<PolicySubject, readonly Telemetry[]> = {
  name: 'select/telemetryLevels',
  run: (reader, subject) => {
    const root = reader.mesh('rootNamespace');
    const namespace = reader.facet('namespace');
    const levels: Telemetry[] = [];
    const attachedIn = namespaceOf(subject) || namespace;
    if (root !== namespace) levels.push(...inNamespace(reader, root).filter(isNamespaceWide).slice(0, 1));
    const others = attachedIn === namespace ? [namespace] : [namespace, attachedIn];
    for (const place of others) levels.push(...inNamespace(reader, place).filter(isNamespaceWide).slice(0, 1));
    const specific = inNamespace(reader, attachedIn).filter(spec => !isNamespaceWide(spec));
    levels.push(...specific.filter(spec => isAttached(reader, attachedIn, spec, subject)));
    return levels;
  },
};

function inNamespace(reader: ProxyReader, namespace: string): readonly Telemetry[] {
  return [...reader.objects('Telemetry', `${namespace}/`)].sort(byAge).map(obj => obj.spec as Telemetry);
}

/** True for an object that is for all proxies of its namespace. */
export function isNamespaceWide(spec: Telemetry): boolean {
  return Object.keys(spec.selector?.matchLabels ?? {}).length === 0 && targetsOf(spec).length === 0;
}

/** Providers named in `mesh.defaultProviders` for one of its lists. */
export function defaultProviders(
  reader: ProxyReader,
  list: 'tracing' | 'metrics' | 'accessLogging',
): readonly string[] {
  return reader.mesh('defaultProviders')[list] ?? [];
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
export function extensionProvider(reader: Reader, name: string): MeshConfig_ExtensionProvider | undefined {
  return providerOfAnyCase(reader.mesh('extensionProviders'), name);
}
