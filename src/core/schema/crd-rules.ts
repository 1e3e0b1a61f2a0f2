// The CEL rules of Istio's CRDs that are more than a range, a length or an exclusion: one function for each rule, with
// our own message. scripts/crd/constraints.mjs maps each rule of a CRD to its function. They see the object as
// received, before it is decoded.

import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { keysOf } from '../base/keys.ts';
import { isIp } from './cel.ts';
import { parseDuration } from './duration.ts';
import { type GoUrl, parseRequestUri } from './go-url.ts';

/** The problem of a value, if any. A value of another type is not the rule's business. */
type Rule = (value: Json) => string | undefined;

const MODULE_SCHEMES: readonly string[] = ['', 'http', 'https', 'file', 'oci'];
const UNIX = 'unix://';
const PORT_NAME = /^[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?$/;
const PORT_NAME_LENGTH_MAX = 62;
const PORT_MAX = 65_535;
const INTEGER = /^[+-]?\d+$/;
const NANOS_PER_MS = 1_000_000;

export const crdRules = {
  keysWithoutWildcard: object(value =>
    keysOf(value).some(has('*')) ? 'wildcards are not supported in keys' : undefined,
  ),
  keysNotEmpty: object(value => (keysOf(value).includes('') ? 'has an empty key' : undefined)),
  withoutWildcard: text(value => (value.includes('*') ? 'wildcards are not supported here' : undefined)),
  notEverything: text(value => (value === '*' ? '"*" is every host; expected one' : undefined)),
  duration: text(value => {
    const duration = parseDuration(value);
    const long = duration !== undefined && (duration.seconds > 0 || duration.nanos >= NANOS_PER_MS);
    return long ? undefined : 'is not a duration of at least 1ms';
  }),
  moduleUrl: text(value => {
    const url = parseRequestUri(value) ?? parseRequestUri(`http://${value}`);
    return allowedScheme(url, MODULE_SCHEMES, 'a URL with the scheme http, https, file or oci, or with none');
  }),
  httpUrl: text(value =>
    allowedScheme(parseRequestUri(value), ['http', 'https'], 'a URL with the scheme http or https'),
  ),
  valueOrHost: object(({ value, valueFrom }) =>
    valueFrom === 'HOST' && value !== undefined ? 'value has no meaning with valueFrom HOST' : undefined,
  ),
  waypointMatch: object(({ context, waypoint }) => {
    if ((context === 'WAYPOINT') === (waypoint !== undefined)) return undefined;
    return 'a waypoint match goes with context WAYPOINT, and only with it';
  }),
  prefixesByResolution: object(({ addresses, resolution = 'NONE' }) => {
    const prefixes = stringsOf(addresses).some(has('/'));
    return prefixes && resolution !== 'STATIC' && resolution !== 'NONE'
      ? 'addresses with a prefix length go with resolution NONE or STATIC only'
      : undefined;
  }),
  noEndpointsWithoutResolution: object(({ endpoints, resolution = 'NONE' }) =>
    resolution === 'NONE' && endpoints !== undefined ? 'endpoints have no meaning with resolution NONE' : undefined,
  ),
  oneEndpointInRoundRobin: object(({ endpoints, resolution }) =>
    resolution === 'DNS_ROUND_ROBIN' && Array.isArray(endpoints) && endpoints.length > 1
      ? 'resolution DNS_ROUND_ROBIN allows one endpoint'
      : undefined,
  ),
  addressByType: object(({ type, value }) =>
    type === 'IPAddress' && typeof value === 'string' && !isIp(value)
      ? `${JSON.stringify(value)} is not an IP address, which type IPAddress needs`
      : undefined,
  ),
  addressOrNetwork: object(({ address, network }) =>
    address === undefined && network === undefined ? 'has no address: expected address or network' : undefined,
  ),
  socketWithoutPorts: object(({ address, ports }) =>
    typeof address === 'string' && address.startsWith(UNIX) && ports !== undefined
      ? 'a socket has no ports'
      : undefined,
  ),
  socketAbsolute: text(value =>
    value.startsWith(UNIX) && !/^[/@]/.test(value.slice(UNIX.length))
      ? 'expected unix:///absolute/path or unix://@name'
      : undefined,
  ),
  socketNoFolder: text(value =>
    value.startsWith(UNIX) && value.endsWith('/') ? 'names a directory; expected a socket' : undefined,
  ),
  keysPortNames: object(value => {
    const bad = keysOf(value).find(key => key.length > PORT_NAME_LENGTH_MAX || !PORT_NAME.test(key));
    return bad === undefined ? undefined : `${JSON.stringify(bad)} is not the name of a port`;
  }),
  uniqueNumbers: list(ports => {
    const numbers = ports.map(port => (isObject(port) ? port.number : undefined));
    return new Set(numbers).size < numbers.length ? 'has a port number twice' : undefined;
  }),
  serviceAccountsAlone: object(source => {
    const accounts = ['serviceAccounts', 'notServiceAccounts'].some(key => source[key] !== undefined);
    const others = ['principals', 'notPrincipals', 'namespaces', 'notNamespaces'];
    return accounts && others.some(key => source[key] !== undefined)
      ? 'service accounts cannot be combined with principals or namespaces'
      : undefined;
  }),
  portsNeedSelector: object(({ portLevelMtls, selector }) => {
    const labels = isObject(selector) && isObject(selector.matchLabels) ? keysOf(selector.matchLabels) : [];
    return portLevelMtls !== undefined && labels.length === 0
      ? 'portLevelMtls is possible only with a selector: ports belong to workloads'
      : undefined;
  }),
  keysPorts: object(value => {
    const bad = keysOf(value).find(key => !INTEGER.test(key) || Number(key) < 1 || Number(key) > PORT_MAX);
    return bad === undefined ? undefined : `${JSON.stringify(bad)} is not a port: expected 1 to ${PORT_MAX}`;
  }),
  upsertNeedsValue: object(({ operation, value }) =>
    operation === 'UPSERT' && (value === undefined || value === '') ? 'operation UPSERT needs a value' : undefined,
  ),
  removeWithoutValue: object(({ operation, value }) =>
    operation === 'REMOVE' && value !== undefined ? 'operation REMOVE has no value' : undefined,
  ),
} satisfies Readonly<Record<string, Rule>>;

export type CrdRule = keyof typeof crdRules;

function object(rule: (value: JsonObject) => string | undefined): Rule {
  return value => (isObject(value) ? rule(value) : undefined);
}

function text(rule: (value: string) => string | undefined): Rule {
  return value => (typeof value === 'string' ? rule(value) : undefined);
}

function list(rule: (value: readonly Json[]) => string | undefined): Rule {
  return value => (Array.isArray(value) ? rule(value as readonly Json[]) : undefined);
}

function allowedScheme(url: GoUrl | undefined, schemes: readonly string[], expected: string): string | undefined {
  return url !== undefined && schemes.includes(url.scheme) ? undefined : `expected ${expected}`;
}

function stringsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(element => typeof element === 'string') : [];
}

function has(part: string): (text: string) => boolean {
  return text => text.includes(part);
}
