// Configuration as istiod's pages show it: `configz`, `resourcesz`, `authorizationz`, `telemetryz`, `pushcontext`
// (Istio pilot/pkg/xds/debug.go). Objects are shown as they were received. `configz` lists every source's objects with
// the verdict on each in a member of its own, `periplus`. Invariant: the content of Secrets is left out.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { showOrigin, showProblem } from '../../core/base/problem.ts';
import { REVISION_LABEL } from '../../core/fold/in-force.ts';
import type { KindDefinition } from '../../core/kinds/definition.ts';
import { definitions } from '../../core/kinds/registry.ts';
import type { KindName } from '../../core/model/kind.ts';
import { byAge, type Obj, type ObjectRecord } from '../../core/model/object.ts';
import { telemetryLevels } from '../../core/select/telemetry/telemetry.ts';
import type { State } from '../../core/state.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, largeJson, type Viewer } from '../http.ts';
import { type LazyJson, mapped } from '../json-text.ts';
import { askedProxy, isAnswer } from './find-proxy.ts';
import { networksOf } from './registry.ts';

type ConfigurationParts = Pick<DebugParts, 'world' | 'engine'>;

/** Without configuration that is labelled for another revision: that is no more refused than in force here. */
export function configzOf(state: State): LazyJson {
  const { revision } = state.settings;
  const isOthers = ({ kind, raw }: ObjectRecord): boolean => {
    const metadata = isObject(raw?.metadata) ? raw.metadata : {};
    const label = isObject(metadata.labels) ? metadata.labels[REVISION_LABEL] : undefined;
    return revision !== '' && label !== undefined && label !== revision && definitions[kind].store === 'config';
  };
  return mapped(
    [...state.records.values()].filter(record => !isOthers(record)),
    shownRecord,
  );
}

function shownRecord(record: ObjectRecord): LazyJson {
  const { kind, key, source, acceptedAt, raw, refused } = record;
  const metadata = isObject(raw?.metadata) ? raw.metadata : {};
  const secret = { apiVersion: 'v1', metadata: { namespace: metadata.namespace ?? '', name: metadata.name ?? '' } };
  return {
    kind,
    ...(kind === 'Secret' ? secret : (raw as JsonObject | undefined)),
    periplus: {
      source,
      key,
      acceptedAt,
      origin: showOrigin(record.origin),
      ...(refused === undefined
        ? {}
        : {
            refused: {
              at: refused.at,
              origin: showOrigin(refused.origin),
              problems: refused.problems.map(showProblem),
            },
          }),
    },
  };
}

/** The kinds that are read. */
export function resourceKinds(): readonly JsonObject[] {
  const all = Object.values(definitions) as readonly KindDefinition[];
  return all.map(({ kind, objectKind = kind, group, versions }) => {
    return { group, version: versions[0] ?? '', kind: objectKind };
  });
}

export function authorizationOf(state: State): JsonObject {
  const policies = byNamespace(state, 'AuthorizationPolicy', ({ name, namespace, annotations }, spec) => ({
    name,
    namespace,
    annotations,
    spec,
  }));
  const { rootNamespace } = state.mesh.effective;
  return { authorization_policies: { namespace_to_policies: policies, root_namespace: rootNamespace ?? '' } };
}

/** With `proxyID`: what acts on that proxy. */
export function telemetryPage(
  { world, engine }: ConfigurationParts,
  query: URLSearchParams,
  viewer: Viewer,
): Answer | Promise<Answer> {
  const { state } = world;
  if ((query.get('proxyID') ?? '') === '') return largeJson(telemetryOf(state));
  const proxy = askedProxy(state, query, viewer);
  if (isAnswer(proxy)) return proxy;
  const levels = engine.tracker.get(state, proxy, telemetryLevels, '');
  const logging = levels.filter(({ accessLogging = [] }) => accessLogging.length > 0);
  return largeJson({
    Metrics: levels.flatMap(({ metrics = [] }) => metrics) as unknown as Json,
    Logging: logging.map(({ accessLogging }) => ({ Logging: accessLogging })) as unknown as Json,
    Tracing: levels.flatMap(({ tracing = [] }) => tracing) as unknown as Json,
  });
}

function telemetryOf(state: State): JsonObject {
  const telemetries = byNamespace(state, 'Telemetry', ({ name, namespace }, spec) => ({ name, namespace, spec }));
  const { rootNamespace } = state.mesh.effective;
  return { telemetries: { namespace_to_telemetries: telemetries, root_namespace: rootNamespace ?? '' } };
}

/** Members as Go writes them: the struct has no names for JSON. */
export function pushContextOf(parts: ConfigurationParts): JsonObject {
  return {
    AuthorizationPolicies: authorizationOf(parts.world.state).authorization_policies ?? null,
    NetworkGateways: networksOf(parts),
    UnresolvedGateways: null,
  };
}

/** The objects in force, oldest first; `spec` as received, or of the stand-in where no version was accepted. */
function byNamespace(
  state: State,
  kind: KindName,
  shown: (object: Obj, spec: Json) => JsonObject,
): { readonly [namespace: string]: readonly JsonObject[] } {
  const received = new Map<Obj, Json>();
  for (const { accepted, raw } of state.records.range(`${kind}|`)) {
    if (accepted !== undefined) received.set(accepted, raw?.spec ?? {});
  }
  const found: Record<string, JsonObject[]> = {};
  for (const object of [...state.objects[kind].values()].sort(byAge)) {
    const spec = received.get(object) ?? (object.spec as unknown as Json);
    const before = found[object.namespace] ?? [];
    found[object.namespace] = before;
    before.push(shown(object, spec));
  }
  return found;
}
