// Makes src/core/schema/istio-api.gen.json: protobufjs reflection of Istio's API kinds, of the envelope that carries them
// over xDS (istio.mcp.v1alpha1) and of the few messages of the discovery protocol, from the .proto files of the released
// module istio.io/api. The order of everything is that of names, so a second run changes nothing.
//
//   go mod download istio.io/api && node istio-api.mjs      (see README.md)
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const here = dirname(fileURLToPath(import.meta.url));
const module = JSON.parse(execFileSync('go', ['list', '-m', '-json', 'istio.io/api'], { cwd: here, encoding: 'utf8' }));
const FOLDERS = [
  'extensions/v1alpha1',
  'mcp/v1alpha1',
  'mesh/v1alpha1',
  'networking/v1alpha3',
  'networking/v1beta1',
  'security/v1beta1',
  'telemetry/v1alpha1',
  'type/v1beta1',
];

/** envoy/service/discovery/v3 and envoy/config/core/v3, as far as a client of state-of-the-world ADS fills and reads them. */
const discovery = {
  Node: {
    fields: {
      id: { type: 'string', id: 1 },
      cluster: { type: 'string', id: 2 },
      metadata: { type: 'google.protobuf.Struct', id: 3 },
    },
  },
  Status: { fields: { code: { type: 'int32', id: 1 }, message: { type: 'string', id: 2 } } },
  DiscoveryRequest: {
    fields: {
      versionInfo: { type: 'string', id: 1 },
      node: { type: 'Node', id: 2 },
      typeUrl: { type: 'string', id: 4 },
      responseNonce: { type: 'string', id: 5 },
      errorDetail: { type: 'Status', id: 6 },
    },
  },
  DiscoveryResponse: {
    fields: {
      versionInfo: { type: 'string', id: 1 },
      resources: { rule: 'repeated', type: 'google.protobuf.Any', id: 2 },
      typeUrl: { type: 'string', id: 4 },
      nonce: { type: 'string', id: 5 },
    },
  },
};

const root = new protobuf.Root();
// Options of fields are of no use here.
root.resolvePath = (_origin, target) => {
  if (target.startsWith('google/api/')) return null;
  return target.startsWith('/') ? target : join(module.Dir, target);
};
const files = FOLDERS.flatMap(folder =>
  readdirSync(join(module.Dir, folder))
    .filter(name => name.endsWith('.proto'))
    .map(name => join(module.Dir, folder, name)),
);
root.loadSync(files, { keepCase: false });
root.addJSON({ discovery: { nested: discovery } });
root.resolveAll();
const made = root.toJSON();
// protobufjs brings Any with the names of the .proto file; all other fields have their JSON names.
const { type_url: typeUrl, ...rest } = made.nested.google.nested.protobuf.nested.Any.fields;
made.nested.google.nested.protobuf.nested.Any.fields = { typeUrl, ...rest };
writeFileSync(join(here, '../../src/core/schema/istio-api.gen.json'), `${JSON.stringify(trimmed(made))}\n`);

/**
 * Without options and comments; members sorted by name, the values of an enum by number: protobufjs takes the first of
 * them for the default.
 */
function trimmed(node) {
  if (Array.isArray(node) || typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(
    ([key]) => key !== 'options' && key !== 'comment' && key !== 'parsedOptions',
  );
  const isEnum = kept.length > 0 && kept.every(([, value]) => typeof value === 'number');
  const order = isEnum ? ([, a], [, b]) => a - b : ([a], [b]) => (a < b ? -1 : 1);
  return Object.fromEntries(kept.sort(order).map(([key, value]) => [key, trimmed(value)]));
}
