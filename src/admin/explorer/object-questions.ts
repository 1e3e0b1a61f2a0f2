// The questions about objects and events: every version of an object, who wrote it and what it changed; what it refers
// to and what refers to it; what it does for proxies.
//
// Objects are shown as the journal gives them out redacted, never as the state holds them: a state has private values.

import { stringify } from 'yaml';
import { analyzers } from '../../analysis/registry.ts';
import { isObject, type JsonObject } from '../../core/base/json.ts';
import { showProblem } from '../../core/base/problem.ts';
import { type ObjectRecord, objectName, partsOfName } from '../../core/model/object.ts';
import type { State } from '../../core/state.ts';
import type { ChangeClass } from '../../history/answers.ts';
import { diffMeshes } from '../../history/diff.ts';
import { effectOf } from '../../history/effect-of.ts';
import { jsonDiff } from '../../history/json-diff.ts';
import { lastChangeOf, recordInForce } from '../../history/last-change.ts';
import { objectNamed } from '../../history/object-name.ts';
import { referencesOf, referencesTo } from '../../history/references.ts';
import { recordsOf, withoutObject } from '../../history/what-if.ts';
import type { Journal, StoredEvent } from '../../journal/journal.ts';
import { analyzeState } from '../../offline/analysis.ts';
import type { EventDetail } from './api.ts';
import type { ObjectEffects, ObjectList, ObjectRow, ObjectView } from './api-questions.ts';
import { isOf, recorded, shownObject, versionsOf } from './object-versions.ts';
import { positionOf, proxyShown, shownProxies, stateAt } from './proxy-questions.ts';
import { pushesAfter } from './push-questions.ts';
import { type Asked, type Question, QuestionFault, requireAll, seqOf, textOf } from './question.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './rows.ts';

/** Events that are looked forward over for the next version of an object. */
export const LOOK_FORWARD_EVENTS = 20_000;

export const objectQuestions: Readonly<Record<string, Question<Reader>>> = {
  '/event': eventDetail,
  '/objects': objectList,
  '/object': objectView,
};

async function eventDetail(reader: Reader, asked: Asked): Promise<EventDetail> {
  requireAll(asked);
  const seq = seqOf(asked);
  const { history } = reader;
  const { journal } = history;
  const event = await recorded(journal, seq);
  if (event === undefined)
    throw new QuestionFault(404, `there is no event ${seq}; the journal ends at ${history.head().seq}`);
  const body = JSON.parse(event.body) as JsonObject;
  const { time, source, kind, hash } = event;
  const row = rowOf(event);
  return {
    row,
    event: { seq, time: new Date(time).toISOString(), source, kind, ...body, hash },
    ...(row.object === '' ? {} : { object: await versionOf(reader, event, row.object) }),
    pushes: await pushesAfter(journal, seq),
  };
}

async function versionOf({ history }: Reader, event: StoredEvent, object: string): Promise<EventDetail['object']> {
  const { journal } = history;
  const { seq } = event;
  const before = seq - 1 < history.first() ? undefined : recordNamed(await history.at(seq - 1), object);
  const now = recordNamed(await history.at(seq), object);
  const earlier = before?.accepted === undefined ? before?.refused?.at : before.acceptedAt;
  const was = earlier === undefined ? undefined : shownObject(await recorded(journal, earlier));
  const is = shownObject(event);
  const later = await nextOf(journal, seq, object);
  return {
    object,
    ...(was === undefined || earlier === undefined ? {} : { before: { seq: earlier, yaml: yamlOf(was) } }),
    ...(is === undefined ? {} : { after: { yaml: yamlOf(is) } }),
    changes: jsonDiff(was, is),
    ...(earlier === undefined ? {} : { earlier }),
    ...(later === undefined ? {} : { later }),
    problems: now?.refused?.at === seq ? now.refused.problems.map(showProblem) : [],
  };
}

function yamlOf(object: JsonObject): string {
  return stringify(object, { lineWidth: 0 });
}

async function nextOf(journal: Journal, seq: number, object: string): Promise<number | undefined> {
  const name = object.split('/').at(-1) ?? '';
  const to = Math.min(journal.head().seq, seq + LOOK_FORWARD_EVENTS);
  for await (const page of journal.records({ from: seq + 1, to })) {
    for (const event of page) {
      if (event.body.includes(name) && isOf(event, object)) return event.seq;
    }
  }
  return undefined;
}

/** A Gateway of the Gateway API has a kind of its own in a state, and the common one in its events. */
function recordNamed(state: State, object: string): ObjectRecord | undefined {
  return recordInForce(state, object) ?? recordInForce(state, object.replace(/^Gateway\//, 'KubernetesGateway/'));
}

async function objectList(reader: Reader, asked: Asked): Promise<ObjectList> {
  requireAll(asked);
  const state = await stateAt(reader, asked);
  return { at: positionOf(state), objects: [...state.records.values()].map(listed) };
}

function listed({ kind, source, key, accepted, acceptedAt, refused }: ObjectRecord): ObjectRow {
  const meta = isObject(refused?.raw.metadata) ? refused.raw.metadata : {};
  const parts = key.split('/');
  const name = accepted?.name ?? (typeof meta.name === 'string' ? meta.name : (parts.at(-1) ?? ''));
  const namespace = accepted?.namespace ?? (typeof meta.namespace === 'string' ? meta.namespace : '');
  return {
    object: objectName({ kind, namespace, name }),
    kind,
    namespace,
    name,
    source,
    seq: accepted === undefined ? 0 : acceptedAt,
    refused: refused !== undefined,
  };
}

async function objectView(reader: Reader, asked: Asked): Promise<ObjectView> {
  requireAll(asked);
  const object = objectNamed(textOf(asked, 'object'));
  const { history } = reader;
  const { journal } = history;
  const state = await stateAt(reader, asked);
  const record = recordNamed(state, object);
  const named = record === undefined || recordsOf(state, object).length > 0 ? object : `Kubernetes${object}`;
  const without = asked.query.get('versions') === 'false';
  const { versions, more } = without ? { versions: [], more: false } : await versionsOf(journal, object);
  const inForce = record?.accepted === undefined ? undefined : shownObject(await recorded(journal, record.acceptedAt));
  const lastChange = await lastChangeOf(history, state, named);
  if (lastChange === undefined && versions.length === 0 && !without) {
    throw new QuestionFault(404, `no event is about ${object}, and there is none at position ${state.seq}`);
  }
  return {
    at: positionOf(state),
    object,
    ...(lastChange === undefined ? {} : { lastChange }),
    ...(inForce === undefined ? {} : { yaml: yamlOf(inForce) }),
    versions,
    more,
    refersTo: record?.accepted === undefined ? [] : referencesOf(history.tracker, state, record.accepted),
    referredBy: record?.accepted === undefined ? [] : referencesTo(history.tracker, state, record.accepted),
    findings: findingsAbout(state, object),
  };
}

const analysed = new WeakMap<State, ReturnType<typeof analyzeState>>();

function findingsAbout(state: State, object: string): ObjectView['findings'] {
  const asked = analyzers.filter(({ onRequest }) => onRequest !== true);
  const found = analysed.get(state) ?? analyzeState(state, { analyzers: asked, now: state.time });
  analysed.set(state, found);
  const { kind, namespace, name } = partsOfName(object);
  return found.messages
    .filter(({ item }) => item?.kind === kind && item?.namespace === namespace && item?.name === name)
    .map(({ code, text, path }) => ({ code, message: text, ...(path === undefined ? {} : { path }) }));
}

/** In the thread of searches: as many states as there are classes of proxies. */
export async function objectEffects(reader: Reader, asked: Asked): Promise<ObjectEffects> {
  requireAll(asked);
  const { history } = reader;
  const state = await stateAt(reader, asked);
  const object = objectNamed(textOf(asked, 'object'));
  const name = asked.query.get('proxy');
  const proxies = name ? [proxyShown(state, name, asked)] : shownProxies(state, asked);
  asked.progress(0, 2);
  const { tracker } = history;
  const difference = diffMeshes(tracker, { state: withoutObject(state, object), proxies }, { state, proxies });
  asked.progress(1, 2);
  const classes: readonly ChangeClass[] = difference.classes;
  const [first] = proxies;
  const why = classes.length > 0 || first === undefined ? undefined : await effectOf(history, state, first, object);
  return {
    at: positionOf(state),
    object,
    classes,
    unchanged: difference.unchanged,
    obstacles: why?.obstacles ?? [],
  };
}
