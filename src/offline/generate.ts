// Generation without a server: texts to facts, facts to a state, a state and a node to a proxy's resources. Nothing is
// journalled. `periplus generate` and the conformance runner consist of these pieces.

import { malformedFact, parseDocuments, parseFile } from '../adapters/file/parse.ts';
import { append } from '../core/base/append.ts';
import { canonicalJson, isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { Origin } from '../core/base/problem.ts';
import { problem, showOrigin } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import type { Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { metadataText, type ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { Query } from '../core/query/reader.ts';
import type { Tracker } from '../core/query/tracker.ts';
import { emptyState, type State } from '../core/state.ts';
import type { ResourceSource } from '../xds/assemble/source.ts';
import { resourceSource } from '../xds/assemble/types.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import { typeNameOf } from '../xds/proto/any.ts';
import { toProtoJson } from '../xds/wire/protojson.ts';

/** The time of unrecorded facts: constant, so that offline runs are reproducible. */
const OFFLINE_TIME = 0;
const noneRejected: ReadonlySet<number> = new Set();

/** The objects of a text as facts of a source such as `file/Kubernetes`; other documents become `Malformed`. */
export function objectFacts(source: string, file: string, bytes: Uint8Array): readonly Unrecorded[] {
  const parsed = parseFile(file, bytes);
  const facts: Unrecorded[] = parsed.objects.map(({ object, origin }) => ({ source, kind: 'Add', object, origin }));
  const { malformed, ignored } = parsed;
  if (malformed.length + ignored.length > 0) facts.push({ source, ...malformedFact({ file }, malformed, ignored) });
  return facts;
}

/**
 * Parses a text of one document, such as a MeshConfig; `null` if it is empty. Throws with file and line if it is
 * malformed.
 */
export function singleDocument(file: string, text: string): { readonly value: Json; readonly origin: Origin } {
  const parsed = parseDocuments(file, text);
  if ('reason' in parsed) throw new Error(`${showOrigin(parsed.origin)}: ${parsed.reason}`);
  const [document] = parsed.documents;
  if (document === undefined) return { value: null, origin: { file } };
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`${showOrigin(error.origin)}: ${error.reason}`);
  return document;
}

export interface OfflineState {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** Folds facts on top of `state`. A fact that cannot be folded is skipped and reported like a refused object. */
export function foldFacts(facts: readonly Unrecorded[], state: State = emptyState): OfflineState {
  const effects: Effect[] = [];
  for (const fact of facts) {
    const folded = fold(state, { ...fact, seq: state.seq + 1, time: OFFLINE_TIME }, noneRejected);
    state = folded.state;
    append(effects, folded.effects);
    if (folded.failure !== undefined) {
      const problems = [problem('', `could not be folded: ${folded.failure}`)];
      effects.push({ kind: 'Verdict', object: fact.kind, accepted: false, problems });
    }
  }
  return { state, effects };
}

/** The facts of a proxy that connects with this node (protojson). */
export function proxyFacts(connection: string, node: JsonObject): readonly Unrecorded[] {
  const { extensions, ...rest } = node;
  const facts: Unrecorded[] = [];
  const digest = `${connection}/extensions`;
  if (Array.isArray(extensions)) facts.push({ source: 'xds', kind: 'Interned', digest, value: extensions as Json });
  facts.push({
    source: 'xds',
    kind: 'ProxyConnected',
    connection,
    node: rest,
    ...(Array.isArray(extensions) ? { extensions: digest } : {}),
    protocol: 'sotw',
    identities: claimedIdentities(rest),
  });
  return facts;
}

/** The identity of the proxy's workload certificate, from its metadata; none if the metadata lacks it. */
export function claimedIdentities(node: JsonObject): readonly string[] {
  const metadata = isObject(node.metadata) ? node.metadata : {};
  const { NAMESPACE: namespace, SERVICE_ACCOUNT: account } = metadata;
  if (typeof namespace !== 'string' || typeof account !== 'string') return [];
  return [`spiffe://cluster.local/ns/${namespace}/sa/${account}`];
}

/** All resources of a wildcard type; none if the type is not generated. */
export function allOf(tracker: Tracker, state: State, proxy: ProxyRecord, url: string): readonly Resource<object>[] {
  const all = sourceFor(proxy, url)?.all;
  return all === undefined ? [] : tracker.get(state, proxy, all, '');
}

/** The resources that the proxy gets for a subscription to these names. */
export function listedOf(
  tracker: Tracker,
  state: State,
  proxy: ProxyRecord,
  url: string,
  names: readonly string[],
): readonly Resource<object>[] {
  const listed = sourceFor(proxy, url)?.listed;
  if (listed !== undefined) {
    const query: Query<readonly string[], readonly Resource<object>[]> = {
      name: `offline/listed/${url}`,
      key: canonicalJson,
      run: listed,
    };
    return tracker.get(state, proxy, query, names);
  }
  return names.flatMap(name => namedOf(tracker, state, proxy, url, name) ?? []);
}

function sourceFor({ metadata }: ProxyRecord, url: string): ResourceSource | undefined {
  return resourceSource(url, metadataText(metadata, 'GENERATOR'));
}

/** The resource of this name; undefined if it does not exist or the type is not generated. */
export function namedOf(
  tracker: Tracker,
  state: State,
  proxy: ProxyRecord,
  url: string,
  name: string,
): Resource<object> | undefined {
  const named = sourceFor(proxy, url)?.named;
  if (named !== undefined) return tracker.get(state, proxy, named, name);
  return allOf(tracker, state, proxy, url).find(resource => resource.name === name);
}

/** The form that a client decodes: canonical protojson with every Any expanded, and the resource's type. */
export function resourceJson(url: string, resource: Resource<object>): JsonObject {
  const { body } = encodeResource(url, resource.name, resource.message);
  const any = toProtoJson('google.protobuf.Any', body);
  if (!isObject(any)) throw new Error(`${typeNameOf(url)} ${resource.name} is not a JSON object`);
  return any;
}
