// What is told when an object that a user names is not there: objects of the same name in other namespaces, or of
// nearly the same name, because a wrong namespace is the commonest slip.

import type { State } from '../core/state.ts';
import { HistoryFault } from './history-fault.ts';
import { nearestText } from './nearest.ts';
import { objectOfRecord } from './what-if.ts';

/** Objects that are offered. */
const OFFERED_MAX = 5;

/** `object`: `Kind/namespace/name`. `asked`: what the message begins with, e.g. `--delete …: `. */
export function noSuchObject(state: State, object: string, asked = ''): HistoryFault {
  const kind = object.slice(0, object.indexOf('/'));
  const name = object.slice(object.lastIndexOf('/'));
  const all = new Set(state.records.range(`${kind}|`).map(objectOfRecord));
  const called = [...all].filter(other => other.endsWith(name)).sort();
  const offered = called.slice(0, OFFERED_MAX).join(', ');
  const near = called.length > 0 ? `; nearest: ${offered}` : nearestText(object, all);
  const none = near === '' ? `, which has ${all.size} objects of this kind` : near;
  return new HistoryFault(`${asked}there is no ${object} at position ${state.seq}${none}`);
}
