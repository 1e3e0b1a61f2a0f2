// The Telemetry objects that apply to a proxy, and which providers they leave in force for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go (applicableTelemetries). Access logs, tracing and metrics read the same
// short list.
//
// A level is one object; levels are least specific first: mesh, namespace, then the workload's own.

import { providerOfAnyCase } from '../../mesh/providers.ts';
import { byAge } from '../../model/object.ts';
import { LIGHT_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import type { ProxyReader, Query, Reader, Selection } from '../../query/reader.ts';
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
    const attachedIn = namespaceOf(subject) || namespace;
    const found = new Map(
      [...new Set([root, namespace, attachedIn])].map(place => [place, inNamespace(reader, place)]),
    );
    const wide = (root === namespace ? [] : [root]).concat(
      attachedIn === namespace ? namespace : [namespace, attachedIn],
    );
    const levels = wide.flatMap(place => found.get(place)!.find(isNamespaceWide) ?? []);
    const specific = found.get(attachedIn)!.filter(spec => !isNamespaceWide(spec));
    const itemOf = (specs: readonly Telemetry[]): SpecificObjects => ({ specs, namespace: attachedIn, subject });
    return levels.concat(selectInBlocks(reader, attachedOf, specific, LIGHT_BLOCKS, itemOf));
  },
};

interface SpecificObjects {
  readonly specs: readonly Telemetry[];
  readonly namespace: string;
  readonly subject: PolicySubject;
}

const attachedOf: Selection<SpecificObjects, readonly Telemetry[]> = {
  name: 'select/attachedTelemetry',
  run: (reader, { specs, namespace, subject }) => specs.filter(spec => isAttached(reader, namespace, spec, subject)),
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
  const { providers = [] } = entry;
  const known = namesOfProviders.get(providers);
  if (known !== undefined) return known;
  const names = providers.map(ref => ref.name ?? '');
  if (names.length >= LONG_LIST) namesOfProviders.set(providers, names);
  return names;
}

/** Of long lists, which each class of traffic asks for. */
const namesOfProviders = new WeakMap<object, readonly string[]>();
const LONG_LIST = 256;

const defined = new WeakMap<readonly string[], { readonly by: object; readonly names: readonly string[] }>();

/** Those of the names that MeshConfig defines, in order: of tens of thousands that a list may have, no others count. */
export function definedProviders(reader: Reader, names: readonly string[]): readonly string[] {
  if (names.length < LONG_LIST) return names;
  const by = reader.mesh('extensionProviders');
  const known = defined.get(names);
  if (known?.by === by) return known.names;
  const found = names.filter(name => providerOfAnyCase(by, name) !== undefined);
  defined.set(names, { by, names: found });
  return found;
}

/** The definition of an extension provider in MeshConfig; its name is found without regard to case. */
export function extensionProvider(reader: Reader, name: string): MeshConfig_ExtensionProvider | undefined {
  return providerOfAnyCase(reader.mesh('extensionProviders'), name);
}
