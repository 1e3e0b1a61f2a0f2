// Why a proxy does not have something. Each reason that Istio's rules know is tried: were it not for this Sidecar,
// this exportTo, this older VirtualService, this port's protocol, would it be there? What makes it appear is a
// reason, proven. Besides: versions that were refused, names without a definition, and since which event it is gone.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { showProblem } from '../core/base/problem.ts';
import { type ObjectRecord, objectName } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { routeKinds } from '../core/translate/gateway-api/route-kinds.ts';
import { routesWithout } from '../core/wishes/gateway-api/findings.ts';
import type { Absence, AbsenceReason } from './answers.ts';
import { goneSince } from './gone-since.ts';
import type { History } from './history.ts';
import { lastChangeOf } from './last-change.ts';
import { nearestNames } from './nearest.ts';
import type { Subject } from './subject.ts';
import { objectOfRecord, without, withVersion } from './what-if.ts';

/** Objects of which something is tried. */
export const REASONS_TRIED_MAX = 400;
/** Names that are suggested. */
const NAMES_SHOWN_MAX = 5;

const EXPORT_ANNOTATION = 'networking.istio.io/exportTo';
const EXPORTED = ['Service', 'ServiceEntry', 'VirtualService', 'DestinationRule'] as const;

export async function explainAbsence(
  history: History,
  state: State,
  proxy: ProxyRecord,
  subject: Subject,
): Promise<Absence> {
  const { tracker } = history;
  const present = (other: State): boolean => subject.answer(tracker, other, proxy) !== undefined;
  const reasons: AbsenceReason[] = [];
  for (const { why, record, next } of attempts(state, proxy, subject)) {
    if (next === undefined || !present(next)) continue;
    reasons.push({ why, lastChange: await lastChangeOf(history, state, objectOfRecord(record)), proven: true });
  }
  reasons.push(...(await refusals(history, state, subject)));
  reasons.push(...(await detachments(history, state, subject)));
  const { gone, searchedFrom } = await goneSince(history, state, proxy, subject);
  if (reasons.length === 0 && gone === undefined) reasons.push(unknownName(state, subject));
  return {
    what: subject.what,
    proxy: proxy.facets.id,
    seq: state.seq,
    time: state.time,
    reasons,
    ...(gone === undefined ? {} : { goneSince: gone }),
    ...(searchedFrom === undefined ? {} : { searchedFrom }),
    missed: subject.provenance(tracker, state, proxy).missed,
  };
}

/**
 * Names that may be meant by the one that was asked for. None if it was there once, or if an object would make it: then
 * it is no slip of the pen.
 */
export function namesMeant(absence: Absence, asked: string, names: () => Iterable<string>): readonly string[] {
  const isSlip = absence.goneSince === undefined && !absence.reasons.some(({ proven }) => proven);
  return isSlip ? nearestNames(asked, names()) : [];
}

interface Attempt {
  readonly why: string;
  readonly record: ObjectRecord;
  readonly next: State | undefined;
}

function* attempts(state: State, proxy: ProxyRecord, subject: Subject): Iterable<Attempt> {
  let tried = 0;
  for (const record of state.records.values()) {
    if (record.accepted === undefined || tried >= REASONS_TRIED_MAX) continue;
    const attempt = attemptOf(state, record, proxy, subject);
    if (attempt === undefined) continue;
    tried++;
    yield attempt;
  }
}

function attemptOf(
  state: State,
  record: ObjectRecord,
  proxy: ProxyRecord,
  { host, subset }: Subject,
): Attempt | undefined {
  const name = objectOfRecord(record);
  const { accepted, raw } = record;
  if (accepted === undefined || raw === undefined) return undefined;
  if (accepted.kind === 'Sidecar')
    return { why: `${name} does not let ${proxy.facets.id} see it`, record, next: without(state, record) };
  if (host === undefined || !mentions(raw, host, accepted.namespace)) return undefined;
  const exported = EXPORTED.some(kind => kind === accepted.kind) ? withoutExport(raw) : undefined;
  if (exported !== undefined) {
    return {
      why: `${name} is not exported to namespace ${proxy.facets.namespace}`,
      record,
      next: withVersion(state, record, exported),
    };
  }
  if (accepted.kind === 'DestinationRule') return withSubset(state, record, raw, subset ?? '');
  if (accepted.kind === 'VirtualService')
    return { why: `${name} has the host and hides what would be there`, record, next: without(state, record) };
  if (accepted.kind !== 'Service' && accepted.kind !== 'ServiceEntry') return undefined;
  const asHttp = withHttpPorts(raw);
  if (asHttp === undefined) return undefined;
  return {
    why: `a port of ${name} is not named as HTTP: it is taken for another protocol and has no routes`,
    record,
    next: withVersion(state, record, asHttp),
  };
}

function withSubset(state: State, record: ObjectRecord, raw: JsonObject, subset: string): Attempt | undefined {
  if (subset === '' || !isObject(raw.spec)) return undefined;
  const subsets = Array.isArray(raw.spec.subsets) ? (raw.spec.subsets as readonly Json[]) : [];
  const names = subsets.flatMap(one => (isObject(one) ? [String(one.name)] : []));
  const has = names.length === 0 ? 'none' : names.join(', ');
  const spec = { ...raw.spec, subsets: [...subsets, { name: subset, labels: { version: subset } }] };
  const why = `${objectOfRecord(record)} has no subset ${subset}; it has ${has}`;
  return { why, record, next: withVersion(state, record, { ...raw, spec }) };
}

/** The host, its first label, or `label.namespace` is written somewhere in the object. */
export function mentions(raw: JsonObject, host: string, namespace: string): boolean {
  const [label = host] = host.split('.');
  const isShort = host === label || host.startsWith(`${label}.${namespace}`);
  const seen = (value: Json | undefined): boolean => {
    if (typeof value === 'string')
      return value === host || (isShort && (value === label || value.startsWith(`${label}.`)));
    if (Array.isArray(value)) return value.some(seen);
    return isObject(value) && Object.values(value).some(seen);
  };
  const { metadata, ...content } = raw;
  return seen(content) || (isObject(metadata) && metadata.name === label);
}

/** Exported to all namespaces; undefined: not set. */
export function withoutExport(raw: JsonObject): JsonObject | undefined {
  const metadata = isObject(raw.metadata) ? raw.metadata : {};
  const annotations = isObject(metadata.annotations) ? metadata.annotations : {};
  const spec = isObject(raw.spec) ? raw.spec : {};
  if (annotations[EXPORT_ANNOTATION] === undefined && spec.exportTo === undefined) return undefined;
  const { [EXPORT_ANNOTATION]: _, ...others } = annotations;
  const { exportTo: __, ...rest } = spec;
  return { ...raw, metadata: { ...metadata, annotations: others }, spec: rest };
}

function withHttpPorts(raw: JsonObject): JsonObject | undefined {
  const spec = isObject(raw.spec) ? raw.spec : {};
  if (!Array.isArray(spec.ports)) return undefined;
  const isEntry = raw.kind === 'ServiceEntry';
  const ports = (spec.ports as readonly Json[]).map(port => {
    if (!isObject(port)) return port;
    return isEntry ? { ...port, protocol: 'HTTP' } : { ...port, appProtocol: 'http' };
  });
  return { ...raw, spec: { ...spec, ports } };
}

async function refusals(history: History, state: State, { host }: Subject): Promise<readonly AbsenceReason[]> {
  const found: AbsenceReason[] = [];
  for (const record of state.records.values()) {
    const { refused } = record;
    if (refused === undefined || host === undefined) continue;
    const metadata = isObject(refused.raw.metadata) ? refused.raw.metadata : {};
    if (!mentions(refused.raw, host, String(metadata.namespace ?? 'default'))) continue;
    const kept = record.accepted === undefined ? 'nothing of it is in force' : 'the version before it stays in force';
    const problems = refused.problems.map(showProblem).join('; ');
    const name = objectOfRecord(record);
    const why = `${name} was refused by event ${refused.at}, ${kept}: ${problems}`;
    found.push({ why, lastChange: await lastChangeOf(history, state, name), proven: false });
  }
  return found;
}

/** Routes of the Gateway API for the host that no parent takes, or whose rules cannot be used: each in one sentence. */
async function detachments(history: History, state: State, { host }: Subject): Promise<readonly AbsenceReason[]> {
  if (host === undefined) return [];
  const found: AbsenceReason[] = [];
  for (const { kind, key, path, message } of history.tracker.get(state, undefined, routesWithout, host)) {
    const name = `${kind}/${key}`;
    const said = path === 'spec.rules' ? `has a fault in its rules: ${message}` : message;
    found.push({ why: `${name} ${said}`, lastChange: await lastChangeOf(history, state, name), proven: false });
  }
  return found;
}

function unknownName(state: State, { what, host }: Subject): AbsenceReason {
  if (host === undefined) return { why: `nothing in force makes ${what}`, proven: false };
  const [label = host] = host.split('.');
  const names = new Set<string>();
  for (const kind of ['Service', 'ServiceEntry', 'VirtualService', ...routeKinds] as const) {
    for (const { name, namespace } of state.objects[kind].values()) {
      if (name.includes(label) || label.includes(name)) names.add(objectName({ kind, namespace, name }));
    }
  }
  const close = [...names].sort().slice(0, NAMES_SHOWN_MAX);
  const hint = close.length === 0 ? '' : `; named like it are ${close.join(', ')}`;
  return {
    why: `no Service, ServiceEntry, VirtualService or route of the Gateway API in force makes ${what}${hint}`,
    proven: false,
  };
}
