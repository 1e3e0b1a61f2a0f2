// A machine that registered, and the facts that record it. Where an API server keeps WorkloadEntries, that is a
// WorkloadRegistration, from which the wish for the WorkloadEntry follows; else it is the WorkloadEntry itself, which
// is in force at once.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { parseTimestamp } from '../../core/base/time.ts';
import type { Fact, ObjectRef, RawObject } from '../../core/event.ts';
import {
  CONNECTED_AT,
  DISCONNECTED_AT,
  REGISTRATION_GROUP,
  WORKLOAD_CONTROLLER,
} from '../../core/kinds/istio/workload-entry.ts';
import { REGISTRATION_API } from '../../core/kinds/periplus/workload-registration.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { EntryName, EntryParts } from '../../core/registration/registration.ts';

const NETWORKING_API = 'networking.istio.io/v1';

/**
 * `waiting`: connected, and not registered, because its group is gone or another process has it; `connected`; `left`:
 * it may come back within the grace period; `expired`: its WorkloadEntry is to go.
 */
export type Phase = 'waiting' | 'connected' | 'left' | 'expired';

/** Times in milliseconds since the epoch. */
export interface Machine {
  readonly entry: EntryName;
  readonly connections: Set<string>;
  /** The proxy that connected last; undefined: none did since the start. */
  proxy?: ProxyRecord | undefined;
  /** What its WorkloadEntry is made of; undefined: it has one already, or its group is gone. */
  parts: EntryParts | undefined;
  phase: Phase;
  readonly since: number;
  connectedAt: number | undefined;
  disconnectedAt?: number | undefined;
  health?: Health | undefined;
  judged: JsonObject;
  timer?: { cancel(): void } | undefined;
}

export interface Health {
  readonly healthy: boolean;
  readonly message: string;
  readonly at: number;
}

export function newMachine(entry: EntryName, since: number, phase: Phase): Machine {
  return { entry, since, phase, connections: new Set(), parts: undefined, connectedAt: undefined, judged: {} };
}

/** `isWritten`: an API server keeps the WorkloadEntries. */
export function factOf(machine: Machine, controller: string, isWritten: boolean): Fact {
  const object = isWritten ? registrationOf(machine, controller) : entryOf(machine, controller);
  return { kind: 'Update', object };
}

export function refOf({ namespace, name }: EntryName, isWritten: boolean): ObjectRef {
  return isWritten
    ? { apiVersion: REGISTRATION_API, kind: 'WorkloadRegistration', namespace, name }
    : { apiVersion: NETWORKING_API, kind: 'WorkloadEntry', namespace, name };
}

function registrationOf(machine: Machine, controller: string): RawObject {
  const { entry, parts, connectedAt, disconnectedAt, phase, health, judged } = machine;
  const { namespace, name, group } = entry;
  return {
    apiVersion: REGISTRATION_API,
    kind: 'WorkloadRegistration',
    metadata: { namespace, name },
    spec: {
      controller,
      connectedAt: timeText(connectedAt),
      disconnectedAt: timeText(disconnectedAt),
      expired: phase === 'expired',
      entry: parts === undefined ? (group === '' ? {} : { spec: {} }) : created(parts),
      judged,
      ...(health === undefined ? {} : { health: { ...health, at: timeText(health.at) } }),
    },
  };
}

/** The group owns what was made of it, so that it goes with the group. */
function created({ labels, annotations, owner: { name, uid }, spec }: EntryParts): JsonObject {
  const owner = { apiVersion: NETWORKING_API, kind: 'WorkloadGroup', name, uid, controller: true };
  const ownerReferences = uid === '' ? {} : { ownerReferences: [owner] };
  return { metadata: { labels, annotations, ...ownerReferences }, spec };
}

function entryOf(machine: Machine, controller: string): RawObject {
  const { entry, parts, since, connectedAt, disconnectedAt, health } = machine;
  const { namespace, name } = entry;
  const times =
    disconnectedAt === undefined
      ? { [CONNECTED_AT]: timeText(connectedAt) }
      : { [DISCONNECTED_AT]: timeText(disconnectedAt) };
  return {
    apiVersion: NETWORKING_API,
    kind: 'WorkloadEntry',
    metadata: {
      ...{ namespace, name, creationTimestamp: timeText(since), labels: parts?.labels ?? {} },
      annotations: { ...parts?.annotations, [WORKLOAD_CONTROLLER]: controller, ...times },
    },
    spec: parts?.spec ?? {},
    ...(health === undefined ? {} : { status: { conditions: [conditionOf(health)] } }),
  };
}

function conditionOf({ healthy, message, at }: Health): JsonObject {
  const time = timeText(at);
  const said = message === '' ? {} : { message };
  return {
    type: 'Healthy',
    status: healthy ? 'True' : 'False',
    lastProbeTime: time,
    lastTransitionTime: time,
    ...said,
  };
}

/** A machine that an earlier process registered, from the WorkloadEntry that it recorded; it is not connected. */
export function recoveredMachine(object: RawObject, now: number): Machine | undefined {
  const { metadata, spec, status } = object;
  if (!isObject(metadata) || !isObject(spec)) return undefined;
  const {
    [CONNECTED_AT]: _,
    [DISCONNECTED_AT]: __,
    [WORKLOAD_CONTROLLER]: ___,
    ...annotations
  } = texts(metadata.annotations);
  const { namespace, name } = metadata;
  const group = annotations[REGISTRATION_GROUP];
  if (typeof namespace !== 'string' || typeof name !== 'string' || group === undefined) return undefined;
  const since = parseTimestamp(String(metadata.creationTimestamp)) ?? now;
  const machine = newMachine({ namespace, name, group }, since, 'left');
  machine.parts = { labels: texts(metadata.labels), annotations, owner: { name: group, uid: '' }, spec };
  machine.connectedAt = now;
  machine.disconnectedAt = now;
  const conditions: readonly Json[] = isObject(status) && Array.isArray(status.conditions) ? status.conditions : [];
  const found = conditions.find(isObject);
  if (found !== undefined) {
    const at = parseTimestamp(String(found.lastProbeTime)) ?? now;
    machine.health = { healthy: found.status === 'True', message: textOf(found.message), at };
  }
  return machine;
}

function texts(json: Json | undefined): { [key: string]: string } {
  const members = isObject(json) ? Object.entries(json) : [];
  return Object.fromEntries(members.filter((member): member is [string, string] => typeof member[1] === 'string'));
}

function textOf(json: Json | undefined): string {
  return typeof json === 'string' ? json : '';
}

function timeText(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString();
}
