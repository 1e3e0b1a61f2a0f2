// Configuration as clients of the generator `api` take it: an object in the envelope of MCP, with its spec as protojson
// under `value` (src/xds/wire packs messages of Istio's API from that form), and the mesh configuration as it is.
// Source: Istio pilot/pkg/networking/apigen/apigen.go, pkg/config/schema/resource.

import type { JsonObject } from '../../../core/base/json.ts';
import { type McpKind, mcpKinds } from '../../../core/model/mcp-kinds.ts';
import type { Obj } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { istioProtoJson } from '../../../core/schema/protojson.ts';
import { TYPE_URL_PREFIX } from '../../proto/any.ts';

const MS = 1_000;
const NANOS_PER_MS = 1_000_000;

/** An object as istio.mcp.v1alpha1.Resource. */
export const envelope: Generator<{ readonly object: Obj }, Resource<object>> = {
  name: 'api/envelope',
  run: ({ object }) => {
    const { namespace, name, labels, annotations, creationTime, resourceVersion } = object;
    const message = messageOf(object);
    const full = `${namespace}/${name}`;
    const metadata = {
      name: full,
      // Always given: for an absent time a client of Istio takes that of its own start.
      createTime: { seconds: Math.floor(creationTime / MS), nanos: (creationTime % MS) * NANOS_PER_MS },
      version: resourceVersion,
      labels,
      annotations,
    };
    const body = { '@type': TYPE_URL_PREFIX + message, value: istioProtoJson(message, object.spec) };
    return { name: full, message: { metadata, body }, problems: [] };
  },
};

export const meshConfigMessage: Generator<{ readonly config: JsonObject }, Resource<object>> = {
  name: 'api/meshConfigMessage',
  run: ({ config }) => ({ name: '', message: config, problems: [] }),
};

const messages: ReadonlyMap<string, McpKind['message']> = new Map(mcpKinds.map(({ kind, message }) => [kind, message]));

function messageOf({ kind }: Obj): McpKind['message'] {
  return messages.get(kind)!;
}
