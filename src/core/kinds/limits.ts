// What an object may look like at all, before any schema: a hostile or broken one is refused here, so that nothing further in can be
// made to recurse or to work without bound. Sizes of documents and files are the adapters' limits.

import type { Json, JsonObject } from '../base/json.ts';
import { type Problem, problem } from '../base/problem.ts';

/** Deeper than any CRD; far from the depth at which recursion over JSON overflows the stack. */
export const DEPTH_MAX = 100;
/** Values (members and elements) in one object. etcd holds 1.5 MiB an object, which is fewer. */
export const VALUES_MAX = 1_000_000;

/** What is wrong with an object's shape, if anything. Total for any JSON. */
export function shapeProblem(json: Json): Problem | undefined {
  const counter = { values: 0 };
  const found = measure(json, 0, counter);
  if (found === 'deep') return problem('', `the object is nested more than ${DEPTH_MAX} levels deep`);
  if (found === 'large') return problem('', `the object has more than ${VALUES_MAX} values`);
  return undefined;
}

function measure(json: Json | undefined, depth: number, counter: { values: number }): 'deep' | 'large' | undefined {
  counter.values += 1;
  if (counter.values > VALUES_MAX) return 'large';
  if (typeof json !== 'object' || json === null) return undefined;
  if (depth >= DEPTH_MAX) return 'deep';
  // Every object of every event comes here: no list of the members is made, and a text costs no call.
  const inner = depth + 1;
  if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i++) {
      const found = typeof json[i] === 'string' ? count(counter) : measure(json[i] as Json, inner, counter);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const members = json as JsonObject;
  for (const key in members) {
    const found = typeof members[key] === 'string' ? count(counter) : measure(members[key], inner, counter);
    if (found !== undefined) return found;
  }
  return undefined;
}

function count(counter: { values: number }): 'large' | undefined {
  counter.values += 1;
  return counter.values > VALUES_MAX ? 'large' : undefined;
}
