// The versions of one object: what each changed, who wrote it, and why it was refused, if it was. The explorer finds
// them by its index of events; without one the whole journal is read.
//
// Objects are shown as the journal gives them out redacted. A verdict depends on the version alone, so no state is
// folded for it.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import { showProblem } from '../../core/base/problem.ts';
import { judge } from '../../core/fold/record.ts';
import { definitionOf } from '../../core/kinds/registry.ts';
import { jsonDiff } from '../../history/json-diff.ts';
import { objectNamed } from '../../history/object-name.ts';
import type { Journal, StoredEvent } from '../../journal/journal.ts';
import type { ObjectVersion, ObjectVersions } from './api-questions.ts';
import { eventFacts } from './event-facts.ts';
import type { EventIndex } from './event-index.ts';
import { type Asked, positionIn, textOf } from './question.ts';
import { rowOf } from './rows.ts';

/** Versions of an object that are listed, the newest first. */
export const VERSIONS_MAX = 100;

type Versions = Pick<ObjectVersions, 'versions' | 'more'>;

/** As far as the index reaches. */
export async function indexedVersions(index: EventIndex, asked: Asked): Promise<ObjectVersions> {
  const object = objectNamed(textOf(asked, 'object'));
  await index.catchUp();
  const state = index.state();
  const to = await positionIn(index.journal, asked, 'to', state.to);
  const seqs = index.seqsOf(object, to, VERSIONS_MAX + 1);
  return { object, ...(await versionsAt(index.journal, seqs, state.complete)), index: state };
}

/** Reads the whole journal. */
export async function versionsOf(journal: Journal, object: string): Promise<Versions> {
  const name = object.split('/').at(-1) ?? '';
  const seqs: number[] = [];
  for await (const page of journal.records({ from: journal.base().seq + 1 })) {
    for (const event of page) if (event.body.includes(name) && isOf(event, object)) seqs.push(event.seq);
  }
  return versionsAt(journal, seqs.slice(-VERSIONS_MAX - 1), true);
}

/**
 * `seqs`: the events of one object, ascending; one more than are listed if there are more. `isWhole`: they begin with
 * its first one, unless there are more.
 */
async function versionsAt(journal: Journal, seqs: readonly number[], isWhole: boolean): Promise<Versions> {
  const more = seqs.length > VERSIONS_MAX;
  const versions: ObjectVersion[] = [];
  let before: JsonObject | undefined;
  for (const [i, seq] of seqs.entries()) {
    const event = await recorded(journal, seq);
    if (event === undefined) continue;
    const now = shownObject(event);
    const problems = await problemsAt(journal, seq);
    const deleted = event.kind === 'Delete';
    const change = deleted ? 'deleted' : problems.length > 0 ? 'refused' : before === undefined ? 'added' : 'changed';
    // What may have one before it is read for the difference alone.
    if ((isWhole && !more) || i > 0)
      versions.push({ row: rowOf(event), change, changes: deleted ? [] : jsonDiff(before, now), problems });
    if (problems.length === 0) before = now;
  }
  return { versions: versions.reverse(), more };
}

/** Why the version is refused; private values are judged, not shown. */
async function problemsAt(journal: Journal, seq: number): Promise<readonly string[]> {
  for await (const [event] of journal.read({ from: seq, to: seq })) {
    if (event === undefined || !('object' in event) || !isObject(event.object)) continue;
    const definition = definitionOf(event.object.apiVersion, event.object.kind);
    const judged = definition === undefined ? undefined : judge(definition, event);
    return judged === undefined || judged.outcome === 'accepted' ? [] : judged.problems.map(showProblem);
  }
  return [];
}

/** Private values replaced. Undefined: there is no such event. */
export async function recorded(journal: Journal, seq: number): Promise<StoredEvent | undefined> {
  if (seq <= journal.base().seq || seq > journal.head().seq) return undefined;
  for await (const [event] of journal.records({ from: seq, to: seq, secrets: 'redacted' })) return event;
  return undefined;
}

/** Of an event whose private values are replaced; without what the API server notes about writers. */
export function shownObject(event: StoredEvent | undefined): JsonObject | undefined {
  if (event === undefined) return undefined;
  const { object } = JSON.parse(event.body) as JsonObject;
  if (!isObject(object)) return undefined;
  const { metadata } = object;
  if (!isObject(metadata) || metadata.managedFields === undefined) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}

export function isOf(event: StoredEvent, object: string): boolean {
  const facts = eventFacts(event);
  return facts.isObject && facts.subject === object;
}
