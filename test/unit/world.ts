// Small worlds for tests: objects folded through the real reducer, one proxy, and questions asked of the tracker.

import { parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { Event, Fact } from '../../src/core/event.ts';
import { defaultSettings, type Settings, settingsToJson } from '../../src/core/mesh/settings.ts';
import { type ProxyRecord, parseNode } from '../../src/core/model/proxy.ts';
import { mergePushRequests, noPush, type PushRequest } from '../../src/core/push-request.ts';
import type { Query } from '../../src/core/query/reader.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { reduce } from '../../src/core/reduce.ts';
import { emptyState, type State } from '../../src/core/state.ts';

export interface WorldOptions {
  readonly mesh?: Json;
  readonly networks?: Json;
  readonly settings?: Partial<Settings>;
}

/** What cluster an object is from: `in('remote', yaml)`. Plain objects and texts are from the config cluster. */
export interface FromCluster {
  readonly cluster: string;
  readonly objects: readonly JsonObject[];
}
export type WorldPart = JsonObject | string | FromCluster;

export function inCluster(cluster: string, ...parts: readonly (JsonObject | string)[]): FromCluster {
  return { cluster, objects: parts.flatMap(objectsOf) };
}

/** The state after these objects, in order. Refused objects fail the test. */
export function world(parts: readonly WorldPart[], options: WorldOptions = {}): State {
  let state = emptyState;
  const facts: (Fact & { readonly source: string })[] = [
    { kind: 'Engine', source: 'runtime', settings: settingsToJson({ ...defaultSettings, ...options.settings }) },
  ];
  if (options.mesh !== undefined) facts.push({ kind: 'MeshConfig', source: 'file/Kubernetes', value: options.mesh });
  if (options.networks !== undefined) {
    facts.push({ kind: 'MeshNetworks', source: 'file/Kubernetes', value: options.networks });
  }
  for (const fact of facts) state = step(state, fact).state;
  return withObjects(state, ...parts);
}

export function withObjects(state: State, ...parts: readonly WorldPart[]): State {
  let next = state;
  for (const [cluster, object] of flatten(parts)) {
    next = accepted(step(next, { kind: 'Add', source: `file/${cluster}`, object }));
  }
  return next;
}

export interface Stepped {
  readonly state: State;
  readonly effects: readonly Effect[];
  /** All pushes of the step in one. */
  readonly push: PushRequest;
}

/** One fact, with everything it caused. */
export function step(state: State, fact: Fact & { readonly source: string }): Stepped {
  const event = { seq: state.seq + 1, time: 0, ...fact } as Event;
  const [next, effects] = reduce(state, event);
  let push = noPush;
  for (const effect of effects) if (effect.kind === 'Push') push = mergePushRequests(push, effect.request);
  return { state: next, effects, push };
}

/** Adds or replaces one object of the config cluster. */
export function put(state: State, part: JsonObject | string, cluster = 'Kubernetes'): Stepped {
  const [object] = objectsOf(part);
  return step(state, { kind: 'Update', source: `file/${cluster}`, object: object! });
}

export function remove(state: State, part: JsonObject | string, cluster = 'Kubernetes'): Stepped {
  const [object] = objectsOf(part);
  const meta = object!.metadata as JsonObject;
  const ref = {
    apiVersion: String(object!.apiVersion),
    kind: String(object!.kind),
    namespace: String(meta.namespace ?? ''),
    name: String(meta.name),
  };
  return step(state, { kind: 'Delete', source: `file/${cluster}`, ref });
}

/** A connected proxy with this node. */
export function proxyOf(node: JsonObject, connection = 'test-1'): ProxyRecord {
  const facets = parseNode(node);
  if ('error' in facets) throw new Error(facets.error);
  return {
    connection,
    connectedAt: 1,
    protocol: 'sotw',
    node,
    facets,
    metadata: (node.metadata ?? {}) as JsonObject,
    extensions: undefined,
    identities: [],
    subscriptions: {},
    nacks: {},
  };
}

export interface NodeOptions {
  readonly type?: 'sidecar' | 'router';
  readonly namespace?: string;
  readonly name?: string;
  readonly ip?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: JsonObject;
}

/** A node as istio-agent makes it. */
export function nodeOf(options: NodeOptions = {}): JsonObject {
  const { type = 'sidecar', namespace = 'default', name = 'client', ip = '10.0.0.99' } = options;
  return {
    id: `${type}~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
    cluster: `${name}.${namespace}`,
    metadata: {
      NAMESPACE: namespace,
      CLUSTER_ID: 'Kubernetes',
      INSTANCE_IPS: ip,
      LABELS: options.labels ?? {},
      ...options.metadata,
    },
  };
}

/** Asks once, with a tracker of its own. */
export function ask<A, R>(state: State, query: Query<A, R>, arg: NoInfer<A>, proxy = proxyOf(nodeOf())): R {
  return new Tracker().get(state, proxy, query, arg);
}

function flatten(parts: readonly WorldPart[]): readonly (readonly [string, JsonObject])[] {
  return parts.flatMap(part => {
    const [cluster, objects] = isFromCluster(part) ? [part.cluster, part.objects] : ['Kubernetes', objectsOf(part)];
    return objects.map((object): readonly [string, JsonObject] => [cluster, object]);
  });
}

function isFromCluster(part: WorldPart): part is FromCluster {
  return typeof part === 'object' && 'cluster' in part && Array.isArray(part.objects);
}

/** Documents of a YAML text. */
function objectsOf(part: JsonObject | string): readonly JsonObject[] {
  if (typeof part !== 'string') return [part];
  return parseAllDocuments(part)
    .map(document => document.toJS() as JsonObject | null)
    .filter(object => object !== null);
}

function accepted(stepped: Stepped): State {
  for (const effect of stepped.effects) {
    if (effect.kind === 'Verdict' && !effect.accepted) {
      throw new Error(`${effect.object} was refused: ${effect.problems.map(p => `${p.path} ${p.message}`).join('; ')}`);
    }
  }
  return stepped.state;
}
