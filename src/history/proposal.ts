// A proposed change on top of a state: YAML added or changed, objects deleted. Each object takes the place of the one
// that is there, of any source; a new object belongs to the source with most objects.

import { showOrigin, showProblem } from '../core/base/problem.ts';
import type { RawObject, Unrecorded } from '../core/event.ts';
import { rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import type { State } from '../core/state.ts';
import { noSuchObject } from './no-such-object.ts';
import { recordsOf, withFact, without } from './what-if.ts';

export interface Proposal {
  readonly state: State;
  /** What would not be accepted, one line each; the versions before stay. */
  readonly refused: readonly string[];
}

/**
 * `facts`: objects as `objectFacts` of offline/generate.ts gives them. `deletions`: `Kind/namespace/name`. Throws a
 * HistoryFault for an absent object.
 */
export function propose(state: State, facts: readonly Unrecorded[], deletions: readonly string[]): Proposal {
  const sources = sourcesOf(state);
  const refused: string[] = [];
  let next = state;
  for (const object of deletions) {
    const records = recordsOf(next, object);
    if (records.length === 0) throw noSuchObject(state, object, '--delete ');
    next = records.reduce(without, next);
  }
  for (const { source: _, ...fact } of facts) {
    if (fact.kind === 'Malformed') refused.push(...fact.reasons.map(reason => `${fact.origin.file}:${reason}`));
    if (fact.kind !== 'Add') continue;
    const source = sourceOf(next, sources, fact.object);
    next = withFact(next, source, fact);
    const key = recordKeyOf(source, rawRef(fact.object));
    const record = key === undefined ? undefined : next.records.get(key);
    const place = showOrigin(fact.origin);
    if (record === undefined) refused.push(`${place}: ${String(fact.object.kind)} is not a kind that Periplus knows`);
    else if (record.refused !== undefined) {
      refused.push(
        ...record.refused.problems.map(problem => `${place}: ${record.kind} is refused: ${showProblem(problem)}`),
      );
    }
  }
  return { state: next, refused };
}

/** The source that has the object; the first source for a new object. */
function sourceOf(state: State, sources: readonly string[], object: RawObject): string {
  const ref = rawRef(object);
  const knowing = sources.find(source => {
    const key = recordKeyOf(source, ref);
    return key !== undefined && state.records.has(key);
  });
  return knowing ?? sources[0] ?? `file/${state.settings.clusterId}`;
}

/** Those with most objects first. */
function sourcesOf(state: State): readonly string[] {
  const counts = new Map<string, number>();
  for (const { source } of state.records.values()) counts.set(source, (counts.get(source) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([source]) => source);
}
