// Variables of the proxy in the path of the injection webhook: `/inject/cluster/c1/net/n1`. A slash in a value is
// written --slash--. The older form is `/inject/:ENV:cluster=c1:ENV:net=n1`.
// Source: Istio pkg/kube/inject/webhook.go (parseInjectEnvs).

import type { Texts } from '../inject/pod.ts';

const NAMES: ReadonlyMap<string, string> = new Map([
  ['cluster', 'ISTIO_META_CLUSTER_ID'],
  ['net', 'ISTIO_META_NETWORK'],
]);
const OLD_FORM = ':ENV:';

/** `path`: decoded, without query. A last key without value is ignored. */
export function envOfPath(path: string): Texts {
  const rest = /^\/[^/]*\/([\s\S]*)$/.exec(path.replace(/\/$/, ''))?.[1] ?? '';
  const pairs = rest.startsWith(OLD_FORM) ? oldPairs(rest) : pairsOf(rest.split('/'));
  const named = pairs.map(([key, value]) => [NAMES.get(key) ?? key.toUpperCase(), value] as const);
  return Object.fromEntries(named.filter(([name]) => name !== ''));
}

function oldPairs(rest: string): readonly (readonly [string, string])[] {
  return rest.split(OLD_FORM).flatMap(pair => {
    const equals = pair.indexOf('=');
    return equals <= 0 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)] as const];
  });
}

function pairsOf(parts: readonly string[]): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) pairs.push([parts[i]!, parts[i + 1]!.replaceAll('--slash--', '/')]);
  return pairs;
}
