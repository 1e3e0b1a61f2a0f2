// What a proxy would hold in a mesh of texts, for the routing oracle: part of the entry `periplus/oracle`.
//
// The generators and the protobuf types are loaded by the first call, not by the import: a test that only asks the
// oracle about a configuration of its own does not pay for them.

import type { JsonObject } from '../core/base/json.ts';
import type { ProxyConfig } from '../oracle/question.ts';
import type { MeshTexts } from './held.ts';

/**
 * The resources of a proxy with this node (envoy.config.core.v3.Node in protojson) in the mesh. Rejects, with file and
 * line, if anything in the mesh is refused.
 */
export async function heldIn(mesh: MeshTexts, node: JsonObject): Promise<ProxyConfig> {
  const { configIn } = await import('./held.ts');
  return configIn(mesh, node);
}
