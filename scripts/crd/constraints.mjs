// `node scripts/crd/constraints.mjs [FOLDER]`: writes src/core/schema/istio-constraints.gen.ts, what the API server demands of Istio's kinds beyond
// their fields: types, ranges, lengths, patterns, required members, exclusions and CEL rules. The source is the file of all CRDs that the
// module istio.io/api carries (sources.mjs names the version).
//
// Texts of CRDs are not copied: a CEL rule becomes a range, a length, an exclusion or the name of a rule that src/core/schema/crd-rules.ts
// implements. A rule or a construct that is not known here is an error, so that a newer CRD cannot lose one in silence.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crdsOf } from './sources.mjs';
import { makeWriter } from './writer.mjs';

const folder = process.argv[2] ?? fileURLToPath(new URL('../../src/core/schema', import.meta.url));
const OUT = join(folder, 'istio-constraints.gen.ts');

const UDS = '(has(self.address) ? self.address : "").startsWith("unix://")';
const ENUM_URLS = schemes =>
  `isURL(self) ? (url(self).getScheme() in [${schemes}]) : (isURL("http://" + self) &&\nurl("http://" + self).getScheme() in [${schemes}])`;

/** CEL text → what stands for it. */
const rules = new Map([
  ['self.all(key, !key.contains("*"))', { rule: 'keysWithoutWildcard' }],
  ['self.all(key, key.size() != 0)', { rule: 'keysNotEmpty' }],
  ['!self.contains("*")', { rule: 'withoutWildcard' }],
  ['self != "*"', { rule: 'notEverything' }],
  ['self.size() == 0', { maxLength: 0 }],
  ['self in ["", "HTTP", "HTTPS"]', { enum: ['', 'HTTP', 'HTTPS'] }],
  ['0 < self && self <= 65535', { minimum: 1, maximum: 65535 }],
  ["duration(self) >= duration('1ms')", { rule: 'duration' }],
  [ENUM_URLS('"", "http", "https", "file", "oci"'), { rule: 'moduleUrl' }],
  [ENUM_URLS('"", "http", "https", "oci", "file"'), { rule: 'moduleUrl' }],
  ['url(self).getScheme() in ["http", "https"]', { rule: 'httpUrl' }],
  ['(has(self.valueFrom) ? self.valueFrom : "") != "HOST" || !has(self.value)', { rule: 'valueOrHost' }],
  ['has(self.wasm) != has(self.lua)', { exactlyOne: [['lua', 'wasm']] }],
  [
    'has(self.context) ? ((self.context == "WAYPOINT") ? has(self.waypoint) : !has(self.waypoint)) : !has(self.waypoint)',
    { rule: 'waypointMatch' },
  ],
  [
    '!((has(self.addresses) ? self.addresses : []).exists(k, k.contains("/")) && !((has(self.resolution) ? self.resolution : "NONE") in ["STATIC", "NONE"]))',
    { rule: 'prefixesByResolution' },
  ],
  [
    '((has(self.resolution) ? self.resolution : "NONE") == "NONE") ? !has(self.endpoints) : true',
    { rule: 'noEndpointsWithoutResolution' },
  ],
  [
    '((has(self.resolution) ? self.resolution : "") == "DNS_ROUND_ROBIN") ? ((has(self.endpoints) ? self.endpoints : []).size() <= 1) : true',
    { rule: 'oneEndpointInRoundRobin' },
  ],
  ['has(self.address) || has(self.network)', { rule: 'addressOrNetwork' }],
  [`${UDS} ? !has(self.ports) : true`, { rule: 'socketWithoutPorts' }],
  [
    'self.startsWith("unix://") ? (self.substring(7, 8) == "/" || self.substring(7, 8) == "@") : true',
    { rule: 'socketAbsolute' },
  ],
  ['self.startsWith("unix://") ? !self.endsWith("/") : true', { rule: 'socketNoFolder' }],
  [
    'self.all(key, size(key) < 63 && key.matches("^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$"))',
    { rule: 'keysPortNames' },
  ],
  ['self.all(l1, self.exists_one(l2, l1.number == l2.number))', { rule: 'uniqueNumbers' }],
  [
    '(has(self.serviceAccounts) || has(self.notServiceAccounts)) ? (!has(self.principals) &&\n!has(self.notPrincipals) && !has(self.namespaces) && !has(self.notNamespaces)) : true',
    { rule: 'serviceAccountsAlone' },
  ],
  [
    'has(self.portLevelMtls) ? (((has(self.selector) && has(self.selector.matchLabels)) ? self.selector.matchLabels : {}).size() > 0) : true',
    { rule: 'portsNeedSelector' },
  ],
  ['self.all(key, 0 < int(key) && int(key) <= 65535)', { rule: 'keysPorts' }],
  [
    '((has(self.operation) ? self.operation : "") == "UPSERT") ? (self.value != "") : true',
    { rule: 'upsertNeedsValue' },
  ],
  [
    '((has(self.operation) ? self.operation : "") == "REMOVE") ? !has(self.value) : true',
    { rule: 'removeWithoutValue' },
  ],
]);

const AT_MOST_ONE = /^(\(has\(self\.\w+\) \? 1 : 0\)( \+ )?)+ <= 1$/;
const HAS = /has\(self\.(\w+)\)/g;
const PLAIN = [
  'type',
  'nullable',
  'required',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
];
const UNDERSTOOD = new Set([
  ...PLAIN,
  'description',
  'format',
  'properties',
  'items',
  'additionalProperties',
  'oneOf',
  'allOf',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-preserve-unknown-fields',
]);

function convert(schema, path) {
  for (const key of Object.keys(schema)) if (!UNDERSTOOD.has(key)) throw new Error(`${path}: ${key} is not understood`);
  const out = {};
  for (const key of PLAIN) if (schema[key] !== undefined) out[key] = schema[key];
  for (const { rule } of schema['x-kubernetes-validations'] ?? []) addRule(out, rule, path);
  for (const { oneOf } of [schema, ...(schema.allOf ?? [])]) if (oneOf !== undefined) addExclusion(out, oneOf, path);
  if (schema['x-kubernetes-list-map-keys'] !== undefined) out.keys = schema['x-kubernetes-list-map-keys'];
  if (schema.properties !== undefined) {
    out.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, convert(property, `${path}.${name}`)]),
    );
  }
  if (schema.items !== undefined) out.items = convert(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) out.values = convert(schema.additionalProperties, `${path}{}`);
  return out;
}

function addRule(out, text, path) {
  if (AT_MOST_ONE.test(text)) {
    const names = [...text.matchAll(HAS)].map(match => match[1]).sort();
    out.atMostOne = [...(out.atMostOne ?? []), names];
    return;
  }
  const known = rules.get(text);
  if (known === undefined) throw new Error(`${path}: no translation of the rule ${JSON.stringify(text)}`);
  const { rule, exactlyOne, ...limits } = known;
  if (rule !== undefined) out.rules = [...(out.rules ?? []), rule];
  if (exactlyOne !== undefined) out.exactlyOne = exactlyOne;
  for (const [key, value] of Object.entries(limits)) {
    const before = out[key];
    out[key] = key.startsWith('min')
      ? Math.max(before ?? value, value)
      : key.startsWith('max')
        ? Math.min(before ?? value, value)
        : value;
  }
}

/** `oneOf` of "none of them" and of each alone, which is how a CRD says that at most one may be set. */
function addExclusion(out, oneOf, path) {
  const [none, ...each] = oneOf;
  const names = each.map(({ required }) => required[0]);
  const negated = (none.not?.anyOf ?? []).map(({ required }) => required[0]);
  if (negated.length === 0 || negated.join() !== names.join())
    throw new Error(`${path}: a oneOf that is not understood`);
  if (names.length > 1) out.atMostOne = [...(out.atMostOne ?? []), [...names].sort()];
}

const { write, declarations } = makeWriter();
const roots = [];
for (const crd of crdsOf('istio')) {
  const { names, versions } = crd.spec;
  const [first, ...others] = versions.map(version => {
    const { properties, required = [] } = version.schema.openAPIV3Schema;
    const spec = convert(properties.spec, names.kind);
    return { text: write(spec), required: required.includes('spec') };
  });
  if (others.some(other => other.text !== first.text)) throw new Error(`${names.kind}: the versions differ`);
  roots.push(`  ${names.kind}: { required: ${first.required}, spec: ${first.text} },`);
}

writeFileSync(
  OUT,
  `// Code generated by scripts/crd/constraints.mjs; DO NOT EDIT. What the CRDs of Istio demand of each spec beyond its fields, the same for all\n` +
    `// versions of a kind; equal parts are written once.\n\nimport type { Constraint } from './constraints.ts';\n\n` +
    `${declarations.join('\n')}\n\n` +
    `/** By kind: whether there must be a spec, and what it must be. */\n` +
    `export const istioConstraints: Readonly<Record<string, { readonly required: boolean; readonly spec: Constraint }>> = {\n` +
    `${roots.sort().join('\n')}\n};\n`,
);
