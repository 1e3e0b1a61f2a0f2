// Objects as people name them: `VirtualService/shop/reviews`, `vs/shop/reviews`, `virtualservices/shop/reviews`, with
// a slash too many in front; the kind in any case.
//
// Invariant: what comes out is the form that every message uses: `Kind/namespace/name` (objectName).

import { definitions, kindNames } from '../core/kinds/registry.ts';
import { objectName } from '../core/model/object.ts';
import { HistoryFault } from './history-fault.ts';
import { nearestText } from './nearest.ts';

/** Short names of the CustomResourceDefinitions and of Kubernetes. */
const shortNames: Readonly<Record<string, string>> = {
  ap: 'AuthorizationPolicy',
  cm: 'ConfigMap',
  dr: 'DestinationRule',
  ef: 'EnvoyFilter',
  ep: 'Endpoints',
  gw: 'Gateway',
  gtw: 'Gateway',
  ing: 'Ingress',
  no: 'Node',
  ns: 'Namespace',
  pa: 'PeerAuthentication',
  pc: 'ProxyConfig',
  po: 'Pod',
  ra: 'RequestAuthentication',
  sa: 'ServiceAccount',
  se: 'ServiceEntry',
  svc: 'Service',
  telemetry: 'Telemetry',
  vs: 'VirtualService',
  we: 'WorkloadEntry',
  wg: 'WorkloadGroup',
};

const kinds: ReadonlyMap<string, string> = kindsByWord();

function kindsByWord(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of kindNames) {
    const { kind, objectKind = kind } = definitions[name];
    const word = objectKind.toLowerCase();
    for (const form of [word, `${word}s`, word.replace(/y$/, 'ies'), word.replace(/(ss|s)$/, '$1es')]) {
      if (!found.has(form)) found.set(form, objectKind);
    }
  }
  for (const [short, kind] of Object.entries(shortNames)) found.set(short, kind);
  return found;
}

/** The kind that a word means; undefined: none. */
export function kindNamed(word: string): string | undefined {
  return kinds.get(word.toLowerCase());
}

/**
 * Throws a HistoryFault (misuse) that says what was expected. A cluster-scoped object is `Kind/name` or `Kind//name`.
 */
export function objectNamed(text: string): string {
  const [word = '', ...rest] = text.replace(/^\/+/, '').split('/');
  const [namespace = '', name = ''] = rest.length === 1 ? ['', rest[0]] : [rest[0], rest.slice(1).join('/')];
  const kind = kindNamed(word);
  if (name === '') throw new HistoryFault(`${text}: expected Kind/namespace/name, e.g. vs/shop/reviews`, true);
  if (kind === undefined) {
    throw new HistoryFault(
      `${text}: ${word} is no kind that Periplus knows${nearestText(word, new Set(kinds.values()))}`,
      true,
    );
  }
  return objectName({ kind, namespace, name });
}
