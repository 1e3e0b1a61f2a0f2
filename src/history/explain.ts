// Why something of a proxy is as it is: which objects made it, which of their fields, which events brought them. The
// read set contains every possible cause; a trial finds the real ones: is the answer different without the object or
// the field? Names are never interpreted, so this stays true when the generators change.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Provenance } from '../core/query/provenance.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import type { Cause, Explanation, FieldCause, JsonChange } from './answers.ts';
import type { History } from './history.ts';
import { jsonDiff } from './json-diff.ts';
import { lastChangeOf, recordInForce } from './last-change.ts';
import type { Subject } from './subject.ts';
import { withoutObject, withVersion } from './what-if.ts';

/** Limit of tried objects; those with the subject's name come first. */
export const OBJECTS_TRIED_MAX = 150;
/** Fields of one object that are tried. */
export const FIELDS_TRIED_MAX = 60;
/** Depth of the fields below the object that are tried separately, e.g. `spec.http[0].route[1].weight`. */
const FIELD_DEPTH_MAX = 6;

/** Undefined: the proxy has no such thing; see absence.ts. */
export async function explain(
  history: History,
  state: State,
  proxy: ProxyRecord,
  subject: Subject,
): Promise<Explanation | undefined> {
  const answer = subject.answer(history.tracker, state, proxy);
  if (answer === undefined) return undefined;
  const provenance = subject.provenance(history.tracker, state, proxy);
  const candidates = byRelevance(provenance, subject);
  const trial = new Trial(history.tracker, proxy, subject, answer);
  const causes: Cause[] = [];
  const readOnly: string[] = [];
  for (const object of candidates.slice(0, OBJECTS_TRIED_MAX)) {
    const changes = trial.changes(withoutObject(state, object));
    const lastChange = changes.length === 0 ? undefined : await lastChangeOf(history, state, object);
    if (lastChange === undefined) readOnly.push(object);
    else {
      const decides = trial.isGone(changes) ? 'all' : 'part';
      causes.push({ lastChange, decides, paths: pathsOf(changes), fields: trial.fields(state, object) });
    }
  }
  const alone = new Set(causes.map(({ lastChange }) => lastChange.object));
  const jointly = togetherIn(
    trial,
    state,
    candidates.filter(object => !alone.has(object)),
  );
  const joined = new Set(jointly.flatMap(({ objects }) => objects));
  return {
    what: subject.what,
    proxy: proxy.facets.id,
    seq: state.seq,
    time: state.time,
    answer,
    causes: causes.sort((a, b) => rank(a) - rank(b) || (a.lastChange.object < b.lastChange.object ? -1 : 1)),
    jointly,
    readOnly: readOnly.filter(object => !joined.has(object)).sort(),
    missed: provenance.missed,
    untried: Math.max(0, candidates.length - OBJECTS_TRIED_MAX),
  };
}

/** Four services on one port make one listener: it is there as long as one of them is. */
function togetherIn(trial: Trial, state: State, objects: readonly string[]): Explanation['jointly'] {
  const kinds = new Map<string, string[]>();
  for (const object of [...objects].sort()) {
    const kind = object.slice(0, object.indexOf('/'));
    kinds.set(kind, [...(kinds.get(kind) ?? []), object]);
  }
  return [...kinds.values()].flatMap((group): Explanation['jointly'] => {
    if (group.length < 2) return [];
    const changes = trial.changes(group.reduce(withoutObject, state));
    if (changes.length === 0) return [];
    return [{ objects: group, decides: trial.isGone(changes) ? 'all' : 'part', paths: pathsOf(changes) }];
  });
}

function rank({ decides }: Cause): number {
  return decides === 'all' ? 0 : 1;
}

/** Kinds that people write come before those that clusters make; names like the host come first. */
function byRelevance({ found }: Provenance, { host }: Subject): readonly string[] {
  const label = host?.split('.')[0];
  const score = (object: string): number => {
    const [kind = '', , name = ''] = object.split('/');
    const named = label !== undefined && name.startsWith(label) ? 0 : 2;
    return named + (kind === 'Pod' || kind === 'EndpointSlice' || kind === 'Node' ? 1 : 0);
  };
  return [...found].sort((a, b) => score(a) - score(b) || (a < b ? -1 : 1));
}

/** Looks the subject up in hypothetical states. */
class Trial {
  /** That of the history: a trial is a small change of a state whose values it has. */
  readonly #tracker: Tracker;
  readonly #proxy: ProxyRecord;
  readonly #subject: Subject;
  readonly #answer: JsonObject;

  constructor(tracker: Tracker, proxy: ProxyRecord, subject: Subject, answer: JsonObject) {
    this.#tracker = tracker;
    this.#proxy = proxy;
    this.#subject = subject;
    this.#answer = answer;
  }

  changes(state: State): readonly JsonChange[] {
    return jsonDiff(this.#answer, this.#subject.answer(this.#tracker, state, this.#proxy));
  }

  isGone(changes: readonly JsonChange[]): boolean {
    return changes.length === 1 && changes[0]!.path === '' && changes[0]!.after === undefined;
  }

  /** The smallest parts of the object that decide something, each alone. */
  fields(state: State, object: string): readonly FieldCause[] {
    const record = recordInForce(state, object);
    const raw = record?.raw;
    if (record === undefined || raw === undefined || object.startsWith('Secret/')) return [];
    const found: FieldCause[] = [];
    let tried = 0;
    const visit = (value: Json, path: readonly (string | number)[]): boolean => {
      if (tried >= FIELDS_TRIED_MAX) return false;
      tried++;
      const next = withVersion(state, record, pruned(raw, path) as JsonObject);
      const changes = next === undefined ? [] : this.changes(next);
      if (next !== undefined && changes.length === 0) return false;
      const inner = path.length < FIELD_DEPTH_MAX ? childrenOf(value) : [];
      const finer = inner.map(([key, child]) => visit(child, [...path, key])).some(Boolean);
      if (finer) return true;
      if (next === undefined) return false;
      found.push({ field: showPath(path), value, decides: this.isGone(changes) ? [] : pathsOf(changes) });
      return true;
    };
    for (const [key, value] of Object.entries(raw)) {
      if (key === 'spec' && isObject(value))
        for (const [name, member] of Object.entries(value)) visitMember(name, member);
      else if (key === 'metadata' && isObject(value)) {
        for (const name of ['labels', 'annotations'])
          if (value[name] !== undefined) visit(value[name], ['metadata', name]);
      } else if (key !== 'apiVersion' && key !== 'kind' && value !== undefined) visit(value, [key]);
    }
    return found;

    function visitMember(name: string, member: Json | undefined): void {
      if (member !== undefined) visit(member, ['spec', name]);
    }
  }
}

function childrenOf(value: Json): readonly (readonly [string | number, Json])[] {
  if (Array.isArray(value)) return value.map((item: Json, i): readonly [number, Json] => [i, item]);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, member] as const]));
}

/** A copy without what stands at the path. */
function pruned(value: Json, path: readonly (string | number)[]): Json {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(value)) {
    if (rest.length === 0) return value.filter((_, i) => i !== key);
    return value.map((item: Json, i) => (i === key ? pruned(item, rest) : item));
  }
  if (!isObject(value)) return value;
  const { [String(key)]: member, ...others } = value;
  if (member === undefined || rest.length === 0) return others;
  return { ...value, [String(key)]: pruned(member, rest) };
}

function showPath(path: readonly (string | number)[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('');
}

function pathsOf(changes: readonly JsonChange[]): readonly string[] {
  return changes.map(({ path }) => path);
}
