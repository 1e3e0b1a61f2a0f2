// Verdicts on the entries of EnvoyFilters: from the objects alone, and from what they do to proxies: those that are
// connected, or those that the workloads of files will have. An entry matches nothing only if that is so for every
// proxy that its object is attached to; entries that no proxy has are counted, because nothing is known of them.

import { compareText, type Obj } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import { Tracker } from '../core/query/tracker.ts';
import { type PatchFinding, patchFindings } from '../core/select/patch/patch-findings.ts';
import type { State } from '../core/state.ts';
import { type PatchEffects, patchEffects } from '../xds/assemble/patch/effects.ts';

export interface PatchVerdict {
  readonly code: 'patch-weak' | 'patch-idle' | 'patch-left-out' | 'patch-refused';
  /** `namespace/name` of the EnvoyFilter. */
  readonly key: string;
  /** Empty: of the whole object. */
  readonly path: string;
  readonly message: string;
}

/** Proxies that are looked at: the first by connection. */
const PROXIES_MAX = 1_000;
/** Proxies or reasons that one message names. */
const NAMED_MAX = 3;
/** Verdicts on resources that Envoy refuses: thousands of patches may make thousands of them. */
export const REFUSALS_MAX = 1_000;

/** What a proxy is called in a message. */
type Whose = 'a connected proxy' | 'a proxy of these workloads';

export interface PatchReport {
  readonly verdicts: readonly PatchVerdict[];
  /** Proxies that were looked at. */
  readonly proxies: number;
  /** EnvoyFilters with entries that none of these proxies has: `namespace/name`, and how many of its entries. */
  readonly unseen: readonly { readonly key: string; readonly entries: number; readonly of: number }[];
}

export function patchReport(state: State, whose: Whose = 'a connected proxy'): PatchReport {
  if (state.objects.EnvoyFilter.size === 0) return { verdicts: [], proxies: 0, unseen: [] };
  const tracker = new Tracker();
  const effects = proxiesLookedAt(state).map(
    proxy => [proxy.facets.id, tracker.get(state, proxy, patchEffects, '')] as const,
  );
  const findings = tracker.get(state, undefined, patchFindings, '');
  const seen = new Set(effects.flatMap(([, { patches }]) => patches.map(({ filter, index }) => `${filter} ${index}`)));
  return {
    verdicts: verdictsOn(findings, effects, whose),
    proxies: effects.length,
    unseen: [...(state.objects.EnvoyFilter.values() as Iterable<Obj<'EnvoyFilter'>>)].flatMap(
      ({ namespace, name, spec }) => {
        const key = `${namespace}/${name}`;
        const all = spec.configPatches ?? [];
        const entries = all.filter((_, index) => !seen.has(`${key} ${index}`)).length;
        return entries === 0 ? [] : [{ key, entries, of: all.length }];
      },
    ),
  };
}

/** Whose patches are judged. */
export function proxiesLookedAt({ proxies }: State): readonly ProxyRecord[] {
  return [...proxies.values()].slice(0, PROXIES_MAX);
}

/** From what was found in the objects alone, and what they do to each proxy. */
export function verdictsOn(
  findings: readonly PatchFinding[],
  effects: Effects,
  whose: Whose = 'a connected proxy',
): readonly PatchVerdict[] {
  const weak = findings.map(({ key, path, message }): PatchVerdict => ({ code: 'patch-weak', key, path, message }));
  const silent = new Set(weak.map(({ key, path }) => `${key} ${entryOf(path)}`));
  const seen = ofProxies(effects, whose).filter(
    ({ code, key, path }) => code !== 'patch-idle' || !silent.has(`${key} ${path}`),
  );
  return [...weak, ...seen, ...refusals(effects)];
}

/** `spec.configPatches[0]` of a path inside of it. */
function entryOf(path: string): string {
  return /^spec\.configPatches\[\d+\]/.exec(path)?.[0] ?? path;
}

export type Effects = readonly (readonly [proxy: string, effects: PatchEffects])[];

function ofProxies(effects: Effects, whose: Whose): readonly PatchVerdict[] {
  const entries = new Map<string, { key: string; path: string; acts: boolean; failures: Set<string> }>();
  for (const [, { patches }] of effects) {
    for (const { filter: key, index, acts, failures } of patches) {
      const path = `spec.configPatches[${index}]`;
      const known = entries.get(`${key} ${path}`) ?? { key, path, acts: false, failures: new Set<string>() };
      known.acts ||= acts;
      for (const failure of failures) known.failures.add(failure);
      entries.set(`${key} ${path}`, known);
    }
  }
  return [...entries.values()]
    .sort((a, b) => compareText(a.key, b.key) || compareText(a.path, b.path))
    .flatMap(({ key, path, acts, failures }): readonly PatchVerdict[] => {
      if (failures.size > 0) return [{ code: 'patch-left-out', key, path, message: `is left out: ${named(failures)}` }];
      if (acts) return [];
      return [{ code: 'patch-idle', key, path, message: `matches nothing that ${whose} holds` }];
    });
}

/** Of several objects that patch a proxy any may be the reason: the message stands at each. */
function refusals(effects: Effects): readonly PatchVerdict[] {
  const found = new Map<string, { readonly proxies: string[]; readonly patchedBy: Set<ReadonlySet<string>> }>();
  for (const [proxy, { patches, refused }] of effects) {
    const acting = new Set(patches.flatMap(({ filter, acts }) => (acts ? [filter] : [])));
    for (const sentence of refused) {
      const known = found.get(sentence) ?? { proxies: [], patchedBy: new Set() };
      known.proxies.push(proxy);
      known.patchedBy.add(acting);
      found.set(sentence, known);
    }
  }
  const verdicts: PatchVerdict[] = [];
  let left = found.size;
  for (const [sentence, { proxies, patchedBy }] of found) {
    const keys = [...new Set([...patchedBy].flatMap(acting => [...acting]))].sort();
    const room = REFUSALS_MAX - verdicts.length;
    const message = `with the patches, ${sentence}: Envoy refuses it on ${named(proxies)}`;
    for (const key of keys.slice(0, room)) verdicts.push({ code: 'patch-refused', key, path: '', message });
    left--;
    if (keys.length < room) continue;
    const more = `with the patches, Envoy refuses ${left} more resources, which are not named`;
    if (left > 0) verdicts.push({ code: 'patch-refused', key: keys[0]!, path: '', message: more });
    break;
  }
  return verdicts;
}

function named(texts: Iterable<string>): string {
  const all = [...texts];
  const more = all.length - NAMED_MAX;
  return `${all.slice(0, NAMED_MAX).join('; ')}${more > 0 ? ` and ${more} more` : ''}`;
}
