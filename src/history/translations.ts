// The user's objects behind the translated ones that resources name in their metadata: of a route that was made of an
// HTTPRoute, people read the HTTPRoute.
//
// Invariant: only names that stand in the given resources are looked up, so a page tells of no object that the proxy's
// configuration does not rest on.

import { isObject } from '../core/base/json.ts';
import { objectName } from '../core/model/object.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { translationSources } from '../core/translate/sources.ts';

/** `Kind/namespace/name` of a translated object → the user's, likewise. */
export type Translations = Readonly<Record<string, readonly string[]>>;

/** `messages`: clusters and route configurations, as messages or as JSON. */
export function translationsIn(tracker: Tracker, state: State, messages: Iterable<object>): Translations {
  const sources = tracker.get(state, undefined, translationSources, '');
  if (sources.size === 0) return {};
  const found: Record<string, readonly string[]> = {};
  for (const message of messages) {
    for (const object of objectsNamedIn(message)) {
      const behind = sources.get(object);
      if (behind !== undefined) found[object] = behind;
    }
  }
  return found;
}

function* objectsNamedIn(message: object): IterableIterator<string> {
  const { virtualHosts } = message as { readonly virtualHosts?: readonly { readonly routes?: readonly object[] }[] };
  for (const holder of [message, ...(virtualHosts ?? []).flatMap(({ routes }) => routes ?? [])]) {
    const named = objectNamedBy(holder);
    if (named !== undefined) yield named;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  'virtual-service': 'VirtualService',
  'destination-rule': 'DestinationRule',
};

/** `Kind/namespace/name` of the object in istiod's metadata convention, filter_metadata.istio.config. */
export function objectNamedBy(resource: object): string | undefined {
  let at: unknown = resource;
  for (const key of ['metadata', 'filterMetadata', 'istio', 'config']) at = isObject(at) ? at[key] : undefined;
  const [, namespace = '', kind = '', name = ''] =
    typeof at === 'string' ? (/\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(at) ?? []) : [];
  return KINDS[kind] === undefined ? undefined : objectName({ kind: KINDS[kind], namespace, name });
}
