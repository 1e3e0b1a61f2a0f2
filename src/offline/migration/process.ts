// What the Deployment of an istiod says that a Periplus in its place would not do: environment variables that are not
// read, values that are not built, flags that have no effect. Read from the Deployment, or from its pods: a journal has
// those.
//
// core/mesh/environment.ts knows what a variable means; the process warns by it at its own start too.

import { memberOf, type Received, textsOf } from '../../analysis/objects.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { environmentProblem } from '../../core/mesh/environment.ts';
import type { Found } from './found.ts';

/** `flags`: the long names of the flags that `periplus serve` has. */
export function processFindings(objects: readonly Received[], flags: readonly string[]): readonly Found[] {
  return objects.flatMap(received => {
    const container = discoveryContainer(received.object);
    if (container === undefined) return [];
    const { at, of } = container;
    return [...environmentOf(of, at), ...flagsOf(of, at, flags)].map(found => ({ ...found, received }));
  });
}

/** True if an istiod's Deployment or pod was among the objects. */
export function hasProcess(objects: readonly Received[]): boolean {
  return objects.some(({ object }) => discoveryContainer(object) !== undefined);
}

function discoveryContainer(object: JsonObject): { readonly at: string; readonly of: JsonObject } | undefined {
  const path = object.kind === 'Pod' ? [] : object.kind === 'Deployment' ? ['spec', 'template'] : undefined;
  if (path === undefined) return undefined;
  const labels = textsOf(memberOf(object, ...path, 'metadata', 'labels'));
  const containers = memberOf(object, ...path, 'spec', 'containers');
  if (labels.app !== 'istiod' || !Array.isArray(containers)) return undefined;
  const index = (containers as readonly Json[]).findIndex(one => isObject(one) && one.name === 'discovery');
  const found = (containers as readonly Json[])[index];
  return isObject(found) ? { at: [...path, `spec.containers[${index}]`].join('.'), of: found } : undefined;
}

type FoundHere = Omit<Found, 'received'>;

function environmentOf({ env }: JsonObject, at: string): readonly FoundHere[] {
  if (!Array.isArray(env)) return [];
  return (env as readonly Json[]).flatMap((entry, i): readonly FoundHere[] => {
    if (!isObject(entry) || typeof entry.name !== 'string') return [];
    const { name, value = '' } = entry;
    const path = `${at}.env[${i}]`;
    const problem = environmentProblem(name, String(value));
    if (problem === undefined) return [];
    return [{ level: problem.kind === 'unsupported' ? 'Error' : 'Warning', text: problem.text, path }];
  });
}

function flagsOf({ args }: JsonObject, at: string, flags: readonly string[]): readonly FoundHere[] {
  if (!Array.isArray(args)) return [];
  return (args as readonly Json[]).flatMap((arg, i): readonly FoundHere[] => {
    const flag = typeof arg === 'string' && arg.startsWith('--') ? arg.split('=')[0]! : undefined;
    if (flag === undefined || flags.includes(flag)) return [];
    return [{ level: 'Warning', text: `the flag ${flag} has no effect`, path: `${at}.args[${i}]` }];
  });
}
