// The TypeScript interfaces of the xDS bundle: one per message, numeric constants per enum, and TypeMap by full name.
import protobuf from 'protobufjs';

const { Type, Enum, MapField } = protobuf;

/** Where a simple name occurs in several packages, these keep it; all the others get a prefix taken from their package. */
const PREFERRED = [
  'envoy.config.listener.v3',
  'envoy.config.cluster.v3',
  'envoy.config.route.v3',
  'envoy.config.endpoint.v3',
  'envoy.config.core.v3',
  'envoy.service.discovery.v3',
  'envoy.service.status.v3',
  'envoy.type.matcher.v3',
  'envoy.type.v3',
  'envoy.config.accesslog.v3',
  'envoy.config.rbac.v3',
  'envoy.config.trace.v3',
  'envoy.config.metrics.v3',
  'envoy.config.bootstrap.v3',
  'envoy.extensions.transport_sockets.tls.v3',
  'envoy.extensions.filters.network.http_connection_manager.v3',
  'envoy.extensions.filters.http.router.v3',
  'envoy.extensions.filters.http.jwt_authn.v3',
  'envoy.extensions.filters.http.ext_proc.v3',
  'google.rpc',
  'xds.type.v3',
];

/** Names that the rules would make ugly for types that generators use. */
const CHOSEN = new Map([['envoy.extensions.upstreams.http.v3.HttpProtocolOptions', 'ExtensionHttpProtocolOptions']]);

const WELL_KNOWN = new Map([
  ['google.protobuf.Any', 'AnyMessage'],
  ['google.protobuf.Struct', 'JsonObject'],
  ['google.protobuf.Value', 'Json'],
  ['google.protobuf.ListValue', 'readonly Json[]'],
  ['google.protobuf.NullValue', 'null'],
]);

const SCALARS = { bool: 'boolean', string: 'string', bytes: 'Uint8Array' };

const fullName = object => object.fullName.slice(1);
const isVersion = segment => /^v\d+((alpha|beta)\d*)?$/.test(segment);
const pascal = text => text.replace(/(^|_)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());
const byFullName = (a, b) => (a.fullName < b.fullName ? -1 : 1);

export function xdsTypes(root) {
  const top = [];
  collectTop(root, top);
  top.sort(byFullName);
  const { names, renamed } = nameAll(top);
  const messages = [...names.keys()].filter(o => o instanceof Type && !WELL_KNOWN.has(fullName(o)));
  const enums = [...names.keys()].filter(o => o instanceof Enum && !WELL_KNOWN.has(fullName(o)));
  return [
    header(renamed),
    ...enums.sort(byFullName).map(e => enumText(e, names)),
    ...messages.sort(byFullName).map(m => messageText(m, names)),
    typeMapText(messages, names),
  ].join('\n');
}

function collectTop(namespace, into) {
  for (const object of namespace.nestedArray) {
    if (object instanceof Type || object instanceof Enum) into.push(object);
    else collectTop(object, into);
  }
}

function nameAll(top) {
  const groups = new Map();
  for (const object of top) groups.set(object.name, [...(groups.get(object.name) ?? []), object]);
  const names = new Map();
  const renamed = [];
  for (const [simple, group] of groups) {
    const preferred = PREFERRED.map(p => group.find(o => fullName(o.parent) === p)).find(o => o !== undefined);
    const rest = group.filter(o => group.length > 1 && o !== preferred);
    for (const object of group) {
      const name = rest.includes(object) ? prefixed(object, rest, groups) : simple;
      if (group.length > 1) renamed.push([name, fullName(object)]);
      nameNested(object, name, names);
    }
  }
  const seen = new Map();
  for (const [object, name] of names) {
    if (seen.has(name)) throw new Error(`${name} is both ${fullName(object)} and ${fullName(seen.get(name))}`);
    seen.set(name, object);
  }
  renamed.sort(([a], [b]) => (a < b ? -1 : 1));
  return { names, renamed };
}

function nameNested(object, name, names) {
  names.set(object, name);
  if (!(object instanceof Type)) return;
  for (const nested of object.nestedArray) nameNested(nested, `${name}_${nested.name}`, names);
}

/** As few segments of the package, from the right, as tell the members of the group apart; for xds, udpa and cel that word alone if it does. */
function prefixed(object, group, groups) {
  const chosen = CHOSEN.get(fullName(object));
  if (chosen !== undefined) return chosen;
  const candidates = candidateNames(object);
  const others = count => group.filter(o => o !== object).map(o => candidateNames(o)[count]);
  const found = candidates.findIndex((name, count) => !groups.has(name) && !others(count).includes(name));
  if (found < 0) throw new Error(`no name for ${fullName(object)}`);
  return candidates[found];
}

function candidateNames(object) {
  const segments = fullName(object.parent)
    .split('.')
    .filter(s => !isVersion(s));
  const doubled = pascal(segments.at(-1)).toLowerCase() === object.name.toLowerCase();
  const used = (doubled ? segments.slice(0, -1) : segments).map(pascal);
  const short = ['xds', 'udpa', 'cel'].includes(segments[0]) ? [pascal(segments[0]) + object.name] : [];
  return [...short, ...used.map((_, i) => used.slice(-(i + 1)).join('') + object.name)];
}

function enumText(enumeration, names) {
  const name = names.get(enumeration);
  const members = Object.entries(enumeration.values).map(
    ([key, value]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : `'${key}'`}: ${value}`,
  );
  const line = `export const ${name} = { ${members.join(', ')} } as const;`;
  const text =
    line.length <= 160 ? line : `export const ${name} = {\n${members.map(m => `  ${m},\n`).join('')}} as const;`;
  return `/** ${fullName(enumeration)} */\n${text}\nexport type ${name} = (typeof ${name})[keyof typeof ${name}];\n`;
}

function messageText(message, names) {
  const fields = [...message.fieldsArray].sort((a, b) => a.id - b.id);
  const lines = fields.map(field => {
    const group = field.partOf && !field.partOf.name.startsWith('_') ? ` // oneof ${field.partOf.name}` : '';
    return `  readonly ${field.name}?: ${fieldType(field, names)};${group}\n`;
  });
  // The phantom member makes the compiler reject other members of a literal, which it does not for an empty interface.
  if (lines.length === 0) lines.push('  readonly _empty?: never;\n');
  return `/** ${fullName(message)} */\nexport interface ${names.get(message)} {\n${lines.join('')}}\n`;
}

function fieldType(field, names) {
  const resolved = field.resolvedType;
  const one =
    resolved === null ? (SCALARS[field.type] ?? 'number') : (WELL_KNOWN.get(fullName(resolved)) ?? names.get(resolved));
  if (field instanceof MapField) return `Readonly<Record<string, ${one}>>`;
  return field.repeated ? `readonly ${one.startsWith('readonly ') ? `(${one})` : one}[]` : one;
}

function typeMapText(messages, names) {
  return `/** Every message by its full name. */\nexport interface TypeMap {\n${messages
    .map(m => `  readonly '${fullName(m)}': ${names.get(m)};\n`)
    .join('')}}\n`;
}

function header(renamed) {
  return `// Code generated by scripts/proto; DO NOT EDIT. Types of the messages that Periplus sends and receives, from the descriptors of Envoy,
// xDS and Istio (versions and licence: scripts/proto/README.md).
//
// Every field is optional: absent means the protobuf default. Names are the JSON names. 64-bit integers are numbers, bytes Uint8Array.
// Enums are numbers: a name would be encoded as 0 without a word, so use the constants. Of the fields of one oneof set at most one.
// Duration and Timestamp are {seconds, nanos}; wrappers are {value}; Struct, Value and ListValue are plain JSON; maps are records.
// An Any stays unpacked: {'@type': 'type.googleapis.com/<full name>', ...fields}; make it with any() of any.ts, which checks the fields.
//
// A nested type is named Outer_Inner. Where packages share a simple name, one of them keeps it and the others have a prefix:
${renamed.map(([name, full]) => `//   ${name} = ${full}`).join('\n')}

import type { Json, JsonObject } from '../../core/json.ts';

/** google.protobuf.Any, unpacked; see the head of this file. */
export interface AnyMessage {
  readonly '@type': string;
}
`;
}
