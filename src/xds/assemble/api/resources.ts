// The rows of clients that name the generator `api`: all objects of a kind in their envelopes, and the mesh
// configuration. Their type URLs are `group/version/Kind`. A kind that is not known has no objects, and that is an
// answer: such a client waits for one of each kind that it asks for.
// Source: Istio pilot/pkg/networking/apigen/apigen.go (APIGenerator.Generate).

import { append } from '../../../core/base/append.ts';
import { API_GENERATOR, type McpKind, mcpKinds, typeUrlOf } from '../../../core/model/mcp-kinds.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { meshConfigInForce, offeredObjects, syntheticEntries } from '../../../core/select/api/offered.ts';
import { envelope, meshConfigMessage } from '../../generate/api/envelope.ts';
import { MESH_CONFIG_URL } from '../../proto/any.ts';
import type { ResourceSource } from '../source.ts';

const generator = API_GENERATOR;

export const apiSources: readonly ResourceSource[] = [
  ...mcpKinds.map(kind => ({
    url: typeUrlOf(kind),
    generator,
    all: { name: `api/${kind.kind}`, run: (reader: ProxyReader) => envelopesOf(reader, kind) },
  })),
  {
    url: MESH_CONFIG_URL,
    generator,
    all: {
      name: 'api/meshConfig',
      run: reader => [reader.make(meshConfigMessage, { config: reader.get(meshConfigInForce, '') })],
    },
  },
  { url: '', generator, all: { name: 'api/unknown', run: () => [] } },
];

function envelopesOf(reader: ProxyReader, { kind }: McpKind): readonly Resource<object>[] {
  const objects = [...reader.get(offeredObjects, kind)];
  if (kind === 'ServiceEntry') append(objects, reader.get(syntheticEntries, ''));
  return objects.map(object => reader.make(envelope, { object }));
}
