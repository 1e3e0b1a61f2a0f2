// Limits on the shape of any object, checked before any schema: a hostile or broken object is refused here, so later
// code neither recurses nor works without bound. Sizes of documents and files are the adapters' limits.

import type { Json, JsonObject } from '../base/json.ts';
import { listKeys } from '../base/keys.ts';
import { type Problem, problem } from '../base/problem.ts';

/** Deeper than any CRD; far from the depth at which recursion over JSON overflows the stack. */
export const DEPTH_MAX = 100;
/**
 * Characters of one object, about as its JSON has them. etcd refuses a request of more than 1.5 MiB
 * (`--max-request-bytes`), so an API server stores nothing larger, and istiod never sees it.
 */
export const OBJECT_CHARS_MAX = 1.5 * 1024 * 1024;

/** The last object that was measured: judging one asks for its size, then for its problem. */
let last: { readonly json: Json; readonly found: 'deep' | 'large' | undefined; readonly chars: number } | undefined;

function measured(json: Json): NonNullable<typeof last> {
  if (last === undefined || last.json !== json) {
    const counter = { chars: 0 };
    last = { json, found: measure(json, 0, counter), chars: counter.chars };
  }
  return last;
}

/** Has the object more characters? Of one that exceeds the limits they are counted as far as the limit. */
export function isLongerThan(json: JsonObject, chars: number): boolean {
  return measured(json).chars > chars;
}

/** The problem of an object's shape, if any. Total for any JSON. */
export function shapeProblem(json: Json): Problem | undefined {
  const { found } = measured(json);
  if (found === 'deep') return problem('', `the object is nested more than ${DEPTH_MAX} levels deep`);
  if (found === 'large') return problem('', TOO_LARGE);
  return undefined;
}

const TOO_LARGE = `the object is larger than ${OBJECT_CHARS_MAX / 1024 / 1024} MiB, which no Kubernetes API server stores`;

function measure(json: Json | undefined, depth: number, counter: { chars: number }): 'deep' | 'large' | undefined {
  // With a comma.
  counter.chars += 2;
  if (counter.chars > OBJECT_CHARS_MAX) return 'large';
  if (typeof json !== 'object' || json === null) return undefined;
  if (depth >= DEPTH_MAX) return 'deep';
  // Every object of every event comes here: a text costs no call.
  const inner = depth + 1;
  if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i++) {
      const value = json[i];
      const found = typeof value === 'string' ? count(counter, value) : measure(value as Json, inner, counter);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const members = json as JsonObject;
  const keys = listKeys(members);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = members[key];
    // With quotes and a colon.
    counter.chars += key.length + 3;
    const found = typeof value === 'string' ? count(counter, value) : measure(value, inner, counter);
    if (found !== undefined) return found;
  }
  return undefined;
}

function count(counter: { chars: number }, text: string): 'large' | undefined {
  counter.chars += text.length + 3;
  return counter.chars > OBJECT_CHARS_MAX ? 'large' : undefined;
}
