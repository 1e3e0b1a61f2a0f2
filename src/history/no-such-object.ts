// The error about an object that does not exist offers objects of the same name in other namespaces, or of nearly the
// same name, because a wrong namespace is the commonest slip.

import type { State } from '../core/state.ts';
import { HistoryFault } from './history-fault.ts';
import { nearestText } from './nearest.ts';
import { objectOfRecord } from './what-if.ts';

/** Objects that are offered. */
const OFFERED_MAX = 5;

/** `object`: `Kind/namespace/name`. `flag`: that it was given by, e.g. `--delete `. */
export function noSuchObject(state: State, object: string, flag = ''): HistoryFault {
  const kind = object.slice(0, object.indexOf('/'));
  const name = object.slice(object.lastIndexOf('/'));
  const all = new Set(state.records.range(`${kind}|`).map(objectOfRecord));
  const called = [...all].filter(other => other.endsWith(name)).sort();
  const offered = called.slice(0, OFFERED_MAX).join(', ');
  const near = called.length > 0 ? `; nearest: ${offered}` : nearestText(object, all);
  const there = near === '' ? `; objects of kind ${kind}: ${all.size}` : near;
  return new HistoryFault(`${flag}${object}: there is no such object at position ${state.seq}${there}`);
}
