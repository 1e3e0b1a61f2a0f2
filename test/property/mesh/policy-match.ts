// Sources, operations and conditions of an AuthorizationPolicy rule, as the Istio API describes them: values are exact,
// `x*`, `*x`, or `*` for "is there"; what a field negates holds for what is absent, too.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { objectIn, textIn, textsIn } from './read.ts';

export interface Caller {
  /** Trust domain, namespace and account of the peer's certificate; undefined: plaintext. */
  readonly identity?: { readonly domain: string; readonly namespace: string; readonly account: string };
  readonly address: string;
  /** X-Forwarded-For. */
  readonly forwardedFor?: string;
}

export interface Called {
  readonly address: string;
  readonly port: number;
  /** Undefined: bytes. */
  readonly http?: {
    readonly method: string;
    readonly path: string;
    readonly host: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface Token {
  readonly claims: JsonObject;
  readonly genuine: boolean;
  readonly expired: boolean;
}

export interface Context {
  readonly caller: Caller;
  readonly called: Called;
  readonly tcp: boolean;
  readonly trustDomains: readonly string[];
  readonly claims: JsonObject | undefined;
  /** Of the policy. */
  readonly namespace: string;
}

export const byteOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What a field asks: whether one of its values holds; undefined where it asks nothing (HTTP, and there is none). */
type Field = (value: string, context: Context) => boolean;

const sourceFields: Readonly<Record<string, Field>> = {
  principals: principalIs,
  requestPrincipals: requestPrincipalIs,
  serviceAccounts: (value, { caller: { identity }, namespace }) => {
    const [first = '', second] = value.split('/');
    const [ns, account] = second === undefined ? [namespace, first] : [first, second];
    return identity !== undefined && identity.namespace === ns && identity.account === account;
  },
  trustDomains: (value, { caller: { identity }, trustDomains }) => {
    const meant = trustDomains.includes(value) ? trustDomains : [value];
    return identity !== undefined && meant.some(one => like(one, identity.domain));
  },
  namespaces: (value, { caller: { identity } }) => identity !== undefined && like(value, identity.namespace),
  ipBlocks: (value, { caller }) => inRange(value, caller.address),
  remoteIpBlocks: (value, context) => inRange(value, clientOf(context)),
};

const operationFields: Readonly<Record<string, Field>> = {
  hosts: (value, { called: { http } }) => http !== undefined && like(value.toLowerCase(), http.host.toLowerCase()),
  methods: (value, { called: { http } }) => http !== undefined && like(value, http.method),
  paths: (value, { called: { http } }) => http !== undefined && pathIs(value, http.path.split(/[?#]/)[0]!),
  ports: (value, { called }) => Number(value) === called.port,
};

const HTTP_ONLY = new Set(['requestPrincipals', 'hosts', 'methods', 'paths']);

export const sourceHolds = (source: JsonObject, context: Context): boolean => fieldsHold(sourceFields, source, context);
export const operationHolds = (operation: JsonObject, context: Context): boolean =>
  fieldsHold(operationFields, operation, context);

function fieldsHold(fields: Readonly<Record<string, Field>>, given: JsonObject, context: Context): boolean {
  return Object.entries(fields).every(([name, field]) => {
    if (context.tcp && HTTP_ONLY.has(name)) return true;
    const negated = `not${name[0]!.toUpperCase()}${name.slice(1)}`;
    return valuesHold(field, textsIn(given[name]), textsIn(given[negated]), context);
  });
}

function valuesHold(field: Field, values: readonly string[], notValues: readonly string[], context: Context): boolean {
  const holds = (value: string): boolean => field(value, context);
  return (values.length === 0 || values.some(holds)) && !notValues.some(holds);
}

export function conditionHolds(condition: JsonObject, context: Context): boolean {
  const key = textIn(condition.key);
  if (context.tcp && key.startsWith('request.')) return true;
  return valuesHold(conditionField(key), textsIn(condition.values), textsIn(condition.notValues), context);
}

function conditionField(key: string): Field {
  const [, header] = /^request\.headers\[(.+)\]$/.exec(key) ?? [];
  if (header !== undefined) {
    return (value, { called: { http } }) => {
      const given = http?.headers[header.toLowerCase()];
      return given !== undefined && (value === '*' || like(value, given));
    };
  }
  const [, claims] = /^request\.auth\.claims\[(.+)\]$/.exec(key) ?? [];
  if (claims !== undefined) return claimField(claims.split(']['));
  const known: Readonly<Record<string, Field>> = {
    'request.auth.principal': requestPrincipalIs,
    'request.auth.audiences': claimField(['aud']),
    'request.auth.presenter': claimField(['azp']),
    'source.principal': principalIs,
    'source.namespace': sourceFields.namespaces!,
    'source.serviceAccount': sourceFields.serviceAccounts!,
    'source.trustDomain': sourceFields.trustDomains!,
    'source.ip': sourceFields.ipBlocks!,
    'remote.ip': sourceFields.remoteIpBlocks!,
    'destination.ip': (value, { called }) => inRange(value, called.address),
    'destination.port': operationFields.ports!,
  };
  const field = known[key];
  if (field === undefined) throw new Error(`the model knows no condition ${key}`);
  return field;
}

/** A claim that is the value, or a list that has it. */
function claimField(path: readonly string[]): Field {
  return (value, { claims }) => {
    const found = path.reduce<Json | undefined>((at, key) => objectIn(at)[key], claims);
    if (typeof found === 'string') return like(value, found);
    return Array.isArray(found) && found.some(one => typeof one === 'string' && like(value, one));
  };
}

/**
 * A principal of one of the mesh's trust domains means the same account in all of them; `cluster.local` is the mesh's
 * own.
 */
function principalIs(value: string, { caller: { identity }, trustDomains }: Context): boolean {
  if (identity === undefined) return false;
  const name = `${identity.domain}/ns/${identity.namespace}/sa/${identity.account}`;
  const [domain = '', ...rest] = value.split('/');
  const ours = rest.length === 4 && [...trustDomains, 'cluster.local'].includes(domain);
  const meant = ours ? trustDomains.map(one => [one, ...rest].join('/')) : [value];
  return meant.some(one => like(one, name));
}

/** `ISSUER/SUBJECT`; a star stands at one end of it. */
function requestPrincipalIs(value: string, { claims }: Context): boolean {
  if (claims === undefined) return false;
  const [issuer, subject] = [textIn(claims.iss), textIn(claims.sub)];
  if (issuer === '' || subject === '') return false;
  return like(value, `${issuer}/${subject}`);
}

export function like(pattern: string, text: string): boolean {
  if (pattern === '*') return text !== '';
  if (pattern.startsWith('*')) return text.endsWith(pattern.slice(1));
  if (pattern.endsWith('*')) return text.startsWith(pattern.slice(0, -1));
  return text === pattern;
}

/** `{*}` stands for one segment, `{**}` for any number of them. */
function pathIs(pattern: string, path: string): boolean {
  if (!pattern.includes('{*')) return like(pattern, path);
  const [first, ...rest] = pattern.split('/');
  return segmentsAre([first!, ...rest], path.split('/'));
}

function segmentsAre(patterns: readonly string[], segments: readonly string[]): boolean {
  const [pattern, ...more] = patterns;
  if (pattern === undefined) return segments.length === 0;
  if (pattern === '{**}') {
    return segments.length > 0 && segments.some((_, i) => segmentsAre(more, segments.slice(i + 1)));
  }
  const [segment, ...left] = segments;
  if (segment === undefined) return false;
  return (pattern === '{*}' ? segment !== '' : segment === pattern) && segmentsAre(more, left);
}

/** The address that the proxy before says it had from its client; a sidecar believes the last one. */
function clientOf({ caller, called }: Context): string {
  if (called.http === undefined || caller.forwardedFor === undefined) return caller.address;
  return caller.forwardedFor.split(',').at(-1)!.trim();
}

/** IPv4 only. */
function inRange(range: string, address: string): boolean {
  const [base = '', bits = '32'] = range.split('/');
  const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  return Math.floor(number(base) / size) === Math.floor(number(address) / size);
}
