// Turns the FileDescriptorSet of main.go into the committed files: the bundle and its TypeScript types for the xDS side, the
// schema and types of Istio's API kinds for the core. Everything is a function of the descriptors: run twice, no difference.
//
//   go run . >descriptors.bin && node bundle.mjs descriptors.bin      (see README.md)
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import 'protobufjs/ext/descriptor.js';
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

/** The few of Envoy's contrib extensions that Istio configures. The module of all of them would come with a hundred others. */
const keyMethod = {
  fields: {
    privateKey: { type: 'envoy.config.core.v3.DataSource', id: 1, protoName: 'private_key' },
    pollDelay: { type: 'google.protobuf.Duration', id: 2, protoName: 'poll_delay' },
  },
};
const contrib = [
  ['envoy.extensions.private_key_providers.cryptomb.v3alpha', { CryptoMbPrivateKeyMethodConfig: keyMethod }],
  ['envoy.extensions.private_key_providers.qat.v3alpha', { QatPrivateKeyMethodConfig: keyMethod }],
  [
    'envoy.extensions.filters.network.mysql_proxy.v3',
    {
      MySQLProxy: {
        fields: {
          statPrefix: { type: 'string', id: 1, protoName: 'stat_prefix' },
          accessLog: { type: 'string', id: 2, protoName: 'access_log' },
        },
      },
    },
  ],
];

const source = join(dirname(fileURLToPath(import.meta.url)), '../../src');
const full = protobuf.Root.fromDescriptor(readFileSync(process.argv[2])).toJSON();

const bundle = structuredClone(full);
for (const name of CORE_PACKAGES) delete bundle.nested.istio.nested[name];
bundle.nested.istio.nested.networking = { nested: { nds: { nested: { v1: { nested: nameTable } } } } };
for (const [name, messages] of contrib) addTo(bundle, name.split('.'), messages);

// Resolving proves that nothing of what is left refers to what was taken out.
const resolve = json => protobuf.Root.fromJSON(structuredClone(json)).resolveAll();
writeFileSync(join(source, 'xds/proto/bundle.gen.json'), `${oneTypePerLine(bundle)}\n`);
writeFileSync(join(source, 'xds/proto/types.gen.ts'), xdsTypes(resolve(bundle)));
const { schema, types } = istioSchema(resolve(full));
writeFileSync(join(source, 'core/schema/istio-schema.gen.ts'), schema);
writeFileSync(join(source, 'core/schema/istio-types.gen.ts'), types);

function addTo(node, [first, ...rest], messages) {
  node.nested ??= {};
  if (first === undefined) {
    Object.assign(node.nested, structuredClone(messages));
    return;
  }
  node.nested[first] ??= {};
  addTo(node.nested[first], rest, messages);
}

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
