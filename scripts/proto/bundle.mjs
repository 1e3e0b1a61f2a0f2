// Turns the FileDescriptorSet of main.go into the committed files: the bundle and its TypeScript types for the xDS side, the
// schema and types of Istio's API kinds for the core. Everything is a function of the descriptors: run twice, no difference.
//
//   go run . >descriptors.bin && node bundle.mjs descriptors.bin      (see README.md)
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';
import { security, workload } from './ambient.mjs';
import { istioSchema } from './schema.mjs';
import { xdsTypes } from './types.mjs';

/** Istio's API kinds are read by the core from JSON; they never travel over xDS. */
const CORE_PACKAGES = ['extensions', 'mesh', 'meta', 'networking', 'security', 'telemetry', 'type', 'analysis'];

/** The name table of istio-agent's DNS proxy. Its Go package is part of the istio.io/istio module, which is not linked here. */
const nameTable = {
  NameTable: {
    fields: {
      table: { keyType: 'string', type: 'NameInfo', id: 1 },
      nameInfo: { type: 'NameInfo', id: 2, protoName: 'name_info' },
    },
    nested: {
      NameInfo: {
        fields: {
          ips: { rule: 'repeated', type: 'string', id: 1 },
          registry: { type: 'string', id: 2 },
          shortname: { type: 'string', id: 3 },
          namespace: { type: 'string', id: 4 },
          altHosts: { rule: 'repeated', type: 'string', id: 5, protoName: 'alt_hosts' },
        },
      },
    },
  },
};

/** What istiod sends agents of istio.mesh.v1alpha1.ProxyConfig; the rest of it never travels over xDS. */
const trustBundle = {
  ProxyConfig: {
    fields: { caCertificatesPem: { rule: 'repeated', type: 'string', id: 34, protoName: 'ca_certificates_pem' } },
  },
};

/** Of Envoy's contrib extensions these have TypeScript types, because generators make them; patches of users can hold all of them. */
const CONTRIB_TYPED = [
  'envoy.extensions.private_key_providers.cryptomb.v3alpha',
  'envoy.extensions.private_key_providers.qat.v3alpha',
  'envoy.extensions.filters.network.mysql_proxy.v3',
];

const source = join(dirname(fileURLToPath(import.meta.url)), '../../src');
const descriptors = readFileSync(process.argv[2]);
const full = protobuf.Root.fromDescriptor(descriptors).toJSON();
const contrib = new Set(
  descriptor.FileDescriptorSet.decode(descriptors)
    .file.filter(file => file.name.startsWith('contrib/'))
    .map(file => file.package)
    .filter(name => !CONTRIB_TYPED.includes(name)),
);

const bundle = structuredClone(full);
for (const name of CORE_PACKAGES) delete bundle.nested.istio.nested[name];
bundle.nested.istio.nested.mesh = { nested: { v1alpha1: { nested: trustBundle } } };
bundle.nested.istio.nested.workload = { nested: workload };
bundle.nested.istio.nested.security = { nested: security };
bundle.nested.istio.nested.networking = { nested: { nds: { nested: { v1: { nested: nameTable } } } } };

// Resolving proves that nothing of what is left refers to what was taken out.
const resolve = json => protobuf.Root.fromJSON(structuredClone(json)).resolveAll();
writeFileSync(join(source, 'xds/proto/bundle.gen.json'), `${oneTypePerLine(bundle)}\n`);
writeFileSync(join(source, 'xds/proto/types.gen.ts'), xdsTypes(resolve(bundle), contrib));
const { schema, types } = istioSchema(resolve(full));
writeFileSync(join(source, 'core/schema/istio-schema.gen.ts'), schema);
writeFileSync(join(source, 'core/schema/istio-types.gen.ts'), types);

/** Sorted by name, so that a refresh shows as a diff of the types that changed. */
function oneTypePerLine(node) {
  const nested = Object.keys(node.nested ?? {}).sort();
  const { nested: _, ...own } = node;
  const members = Object.entries(own).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  if (nested.length > 0) {
    members.push(
      `"nested":{\n${nested.map(name => `${JSON.stringify(name)}:${oneTypePerLine(node.nested[name])}`).join(',\n')}}`,
    );
  }
  return `{${members.join(',')}}`;
}
