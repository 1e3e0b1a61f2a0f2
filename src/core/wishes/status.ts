// Statuses that several controllers write, or that carry times: how what is wished joins what is there. A wish says
// what holds; the times of transitions and the entries of others come from the live object, so that a second look at
// a written status finds nothing to do.
// Source: Istio pilot/pkg/model/kstatus, pilot/pkg/config/kube/gatewaycommon/conversion.go (SetListenerConditions),
// pilot/pkg/config/kube/gateway/conditions.go (createRouteStatus), backend policies' mergeAncestors.

import { isObject, type Json, type JsonObject, jsonEqual } from '../base/json.ts';

/** Which rules a status is joined by. */
export type StatusRule =
  /** Conditions; other members as wished. */
  | { readonly of: 'conditions' }
  /** The conditions that are there, but for those of one type. */
  | { readonly of: 'without'; readonly type: string }
  /** Also listeners, whose conditions are inherited by position. `prunes`: those without a listener go. */
  | { readonly of: 'listeners'; readonly prunes: boolean }
  /** Listeners were not looked at: those of the names stay, without routes; undefined: all of them. */
  | { readonly of: 'kept'; readonly names: readonly string[] | undefined }
  /** Lists of entries that belong to controllers: `parents` of routes, `ancestors` of policies. */
  | {
      readonly of: 'entries';
      readonly member: 'ancestors' | 'parents';
      readonly controllers: readonly string[];
      /** Meant by references that name none. */
      readonly namespace: string;
    }
  /** `parents` of an InferencePool, which name no controller: `gateways` are those that can be ours. */
  | { readonly of: 'pool'; readonly namespace: string; readonly gateways: readonly string[] };

/** Entries of `status.ancestors`; more are cut. */
const ANCESTORS_MAX = 16;

/** `time`: RFC 3339, of transitions that happen now. Members that no rule names are as wished. */
export function joinedStatus(rule: StatusRule, wished: JsonObject, live: JsonObject, time: string): JsonObject {
  switch (rule.of) {
    case 'conditions':
      return { ...wished, conditions: conditionsOf(wished.conditions, live.conditions, time) };
    case 'without': {
      const left = objectsOf(live.conditions).filter(({ type }) => type !== rule.type);
      return { ...wished, conditions: left.length === 0 ? null : left };
    }
    case 'listeners':
      return {
        ...wished,
        conditions: conditionsOf(wished.conditions, live.conditions, time),
        listeners: listenersOf(rule.prunes, wished.listeners, live.listeners, time),
      };
    case 'kept':
      return {
        ...wished,
        conditions: conditionsOf(wished.conditions, live.conditions, time),
        ...(live.listeners === undefined ? {} : { listeners: keptListeners(rule.names, live.listeners) }),
      };
    case 'entries':
      return { ...wished, [rule.member]: entriesOf(rule, wished, live, time) };
    case 'pool':
      return { ...wished, parents: poolParentsOf(rule, wished, live, time) };
  }
}

/** A condition keeps its place, and is left alone if nothing but its reason would change; new ones follow. */
function conditionsOf(wished: Json | undefined, live: Json | undefined, time: string): Json {
  const conditions = [...objectsOf(live)];
  for (const wish of objectsOf(wished)) {
    const at = conditions.findIndex(({ type }) => type === wish.type);
    const known = conditions[at];
    if (known === undefined) conditions.push({ ...wish, lastTransitionTime: time });
    else if (!says(known, wish)) {
      const since = known.status === wish.status ? known.lastTransitionTime : time;
      conditions[at] = { ...wish, lastTransitionTime: since ?? time };
    }
  }
  return conditions;
}

function says(known: JsonObject, wish: JsonObject): boolean {
  return (['status', 'message', 'observedGeneration'] as const).every(member =>
    jsonEqual(known[member] ?? null, wish[member] ?? null),
  );
}

function listenersOf(prunes: boolean, wished: Json | undefined, live: Json | undefined, time: string): Json {
  const known = objectsOf(live);
  const wishes = objectsOf(wished);
  const joined = wishes.map((wish, i) => ({
    ...wish,
    conditions: conditionsOf(wish.conditions, known[i]?.conditions, time),
  }));
  return prunes ? joined : [...joined, ...known.slice(wishes.length)];
}

function keptListeners(names: readonly string[] | undefined, live: Json): Json {
  const kept = new Map(objectsOf(live).map(known => [String(known.name), { ...known, attachedRoutes: 0 }]));
  return [...kept].filter(([name]) => names?.includes(name) ?? true).map(([, listener]) => listener);
}

type EntriesRule = Extract<StatusRule, { readonly of: 'entries' }>;

/** Entries of other controllers stay in their places; ours are replaced where they stand, or removed. */
function entriesOf(rule: EntriesRule, wished: JsonObject, live: JsonObject, time: string): Json {
  const { member, controllers, namespace } = rule;
  const left = [...objectsOf(wished[member])];
  const joined: JsonObject[] = [];
  for (const known of objectsOf(live[member])) {
    if (!controllers.includes(String(known.controllerName))) {
      joined.push(known);
      continue;
    }
    const at = left.findIndex(wish => refOf(wish, namespace) === refOf(known, namespace));
    const [wish] = at < 0 ? [] : left.splice(at, 1);
    if (wish !== undefined) joined.push(entryOf(wish, known, time));
  }
  joined.push(...left.map(wish => entryOf(wish, undefined, time)));
  return member === 'ancestors' ? joined.slice(0, ANCESTORS_MAX) : joined;
}

type PoolRule = Extract<StatusRule, { readonly of: 'pool' }>;

/**
 * Entries of others first, then ours; of a live one of ours the known conditions stay. The entry that stands in the
 * place of a status until a controller comes is dropped. Null: there is none, and there need be no list.
 */
function poolParentsOf(
  { namespace: own, gateways }: PoolRule,
  wished: JsonObject,
  live: JsonObject,
  time: string,
): Json {
  const wishes = objectsOf(wished.parents);
  const key = ({ parentRef }: JsonObject): string => {
    const { namespace = '', name = '' } = isObject(parentRef) ? parentRef : {};
    return `${String(namespace) || own}/${String(name)}`;
  };
  const isPlaceholder = ({ parentRef }: JsonObject): boolean =>
    isObject(parentRef) && parentRef.kind === 'Status' && parentRef.name === 'default';
  const ours = new Set([...gateways, ...wishes.map(key)]);
  const there = objectsOf(live.parents);
  const foreign = there.filter(entry => !ours.has(key(entry)) && !isPlaceholder(entry));
  const joined = wishes.map(wish => {
    const known = objectsOf(there.find(entry => key(entry) === key(wish))?.conditions);
    const kept = known.filter(({ type }) => type === 'Accepted' || type === 'ResolvedRefs');
    return entryOf(wish, { conditions: kept }, time);
  });
  const parents = [...foreign, ...joined];
  return parents.length === 0 ? null : parents;
}

function entryOf({ conditions, ...wish }: JsonObject, known: JsonObject | undefined, time: string): JsonObject {
  return { ...wish, conditions: conditionsOf(conditions, known?.conditions, time) };
}

const GATEWAY_API = 'gateway.networking.k8s.io';

/** Absent parts of a reference count as their defaults. */
function refOf(entry: JsonObject, own: string): string {
  const ref = [entry.parentRef, entry.ancestorRef].find(isObject) ?? {};
  const { group = GATEWAY_API, kind = 'Gateway', name = '', namespace = own, sectionName = '', port = 0 } = ref;
  return [group, kind, namespace, name, sectionName, port].join('/');
}

function objectsOf(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : [];
}
