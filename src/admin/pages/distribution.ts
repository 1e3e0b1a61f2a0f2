// `config_distribution`: which version of an object each connected proxy has accepted, type by type, in istiod's shape
// (Istio pilot/pkg/xds/debug.go, distributedVersions). A version is metadata.generation, or the event that brought an
// object without one; a type that has not accepted the version in force is left out. `distributionz` is what replicas
// ask each other: counts of their own proxies.

import type { Json, JsonObject } from '../../core/base/json.ts';
import { generationOf } from '../../core/model/object.ts';
import { recordInForce } from '../../history/last-change.ts';
import type { ConnectionStatus } from '../../xds/serve/stream-status.ts';
import { CDS, EDS, LDS, RDS } from '../../xds/session/types.ts';
import type { AcceptedPositions } from '../accepted.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, json, largeJson, text } from '../http.ts';
import { mapped } from '../json-text.ts';
import { whyBehind } from '../live.ts';

type DistributionParts = Pick<DebugParts, 'world' | 'engine' | 'xds'>;

const members: readonly (readonly [name: string, typeUrl: string])[] = [
  ['cluster_acked', CDS],
  ['listener_acked', LDS],
  ['route_acked', RDS],
  ['endpoint_acked', EDS],
];

const UNPROCESSABLE = 422;

/** `resource`: `group/version/Kind/namespace/name`, as istioctl writes it, or `Kind/namespace/name`. */
export function distributionPage(parts: DistributionParts, query: URLSearchParams): Answer | Promise<Answer> {
  const resource = query.get('resource') ?? '';
  if (resource === '') return text("querystring parameter 'resource' is required", UNPROCESSABLE);
  const object = resource.split('/').slice(-3).join('/');
  const namespace = query.get('proxy_namespace') ?? '';
  const record = recordInForce(parts.world.state, object);
  if (record?.accepted === undefined) return json([]);
  const wanted = { seq: record.acceptedAt, version: String(generationOf(record.raw) ?? record.acceptedAt) };
  const all = parts.xds.connections();
  const shown = namespace === '' ? all : all.filter(({ facets }) => facets.namespace === namespace);
  return largeJson(mapped(shown, status => versionsOf(parts, status, wanted)));
}

function versionsOf(
  { world, engine }: DistributionParts,
  { connection, facets, types }: ConnectionStatus,
  { seq, version }: { readonly seq: number; readonly version: string },
): JsonObject {
  const found: Record<string, Json> = { proxy: facets.id };
  for (const [name, typeUrl] of members) {
    const type = types.find(one => one.typeUrl === typeUrl);
    if (type === undefined || whyBehind(world.state, engine, connection, type, seq) !== undefined) continue;
    found[name] = version;
  }
  return found;
}

/** `for`, repeated: `Kind/namespace/name@generation`. One count each, in order, of the proxies of this process. */
export function countsPage(
  { world }: Pick<DistributionParts, 'world'>,
  accepted: AcceptedPositions,
  query: URLSearchParams,
): Answer {
  const positions = accepted.look();
  const total = positions.length;
  const counts = query.getAll('for').map(asked => {
    const at = asked.lastIndexOf('@');
    const record = recordInForce(world.state, asked.slice(0, at));
    const isSame = record?.accepted !== undefined && String(generationOf(record.raw)) === asked.slice(at + 1);
    return { acked: isSame ? positions.filter(position => position >= record.acceptedAt).length : 0, total };
  });
  return json(counts);
}
