// What policies name, as values to ask about: identities, paths, methods, ports, hosts, headers, tokens and addresses,
// and of each one that nothing names.
//
// A pattern stands for itself with a fresh part: `/x*` becomes `/x` and `/x-other`. Two states are asked the same
// questions, so the pools are those of both.

import { isObject, type Json } from '../../core/base/json.ts';
import { endsOfRange } from '../../core/model/ip-range.ts';
import type { AuthorizationPolicy, RequestAuthentication } from '../../core/schema/istio-types.gen.ts';
import type { HttpRequest, Token } from '../../oracle/question.ts';

/** Values of one kind that are asked about; what exceeds this is counted in `leftOut`. */
export const POOL_MAX = 12;

export const FRESH = 'any-other';
/** The token's text in the request. */
export const TOKEN = 'token';

export interface Pools {
  /** SPIFFE URIs; undefined: plaintext. */
  readonly identities: readonly (string | undefined)[];
  readonly paths: readonly string[];
  readonly methods: readonly string[];
  readonly ports: readonly number[];
  readonly hosts: readonly string[];
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly tokens: readonly (Token | undefined)[];
  readonly addresses: readonly ClientAddress[];
  /** Values that were left out. */
  readonly leftOut: number;
}

/** Where a request comes from. */
export interface ClientAddress {
  /** Of the connection; undefined: one that is in no range. */
  readonly source: string | undefined;
  /** Of the client, as the proxy before says; also that of the connection, for gateways that believe no header. */
  readonly client: boolean;
}

export interface PolicySpecs {
  readonly authorization: readonly { readonly namespace: string; readonly spec: AuthorizationPolicy }[];
  readonly authentication: readonly RequestAuthentication[];
}

/** `host`: how the workload is called where no policy names hosts. */
export function poolsOf({ authorization, authentication }: PolicySpecs, trustDomain: string, host: string): Pools {
  const found = new Values();
  for (const { namespace, spec } of authorization) {
    for (const rule of spec.rules ?? []) {
      for (const { source = {} } of rule.from ?? []) addSource(found, source, namespace, trustDomain);
      for (const { operation = {} } of rule.to ?? []) addOperation(found, operation);
      for (const { key = '', values = [], notValues = [] } of rule.when ?? []) {
        for (const value of [...values, ...notValues]) addCondition(found, key, value, namespace, trustDomain);
      }
    }
  }
  for (const { jwtRules = [] } of authentication) {
    for (const { issuer = '' } of jwtRules) found.add('token', `${issuer}/${FRESH}`);
  }
  const identity = `spiffe://${trustDomain}/ns/${FRESH}/sa/${FRESH}`;
  return {
    identities: [...found.of('identity'), identity, undefined],
    paths: [...found.of('path'), `/${FRESH}`],
    methods: [
      ...found.of('method'),
      ['GET', 'HEAD', 'OPTIONS'].find(one => !found.of('method').includes(one)) ?? 'TRACE',
    ],
    ports: found.of('port').map(Number),
    hosts: [...found.of('host'), host],
    headers: [{}, ...found.of('header').map(headerOf)],
    addresses: [
      { source: undefined, client: false },
      ...found.of('source').map(source => ({ source, client: false })),
      ...found.of('client').map(source => ({ source, client: true })),
    ],
    tokens: [undefined, ...found.of('token').map(tokenOf), ...found.of('claim').map(text => claimToken(text, found))],
    leftOut: found.leftOut,
  };
}

class Values {
  leftOut = 0;
  readonly #values = new Map<string, Set<string>>();

  add(kind: string, value: string): void {
    const known = this.#values.get(kind) ?? new Set();
    this.#values.set(kind, known);
    if (known.size < POOL_MAX) known.add(value);
    else if (!known.has(value)) this.leftOut++;
  }

  of(kind: string): readonly string[] {
    return [...(this.#values.get(kind) ?? [])];
  }
}

type Fields = Readonly<Record<string, Json | undefined>>;

/** The values of a field and of its negation. */
function named(of: object, field: string): readonly string[] {
  const fields = of as Fields;
  const negated = `not${field[0]!.toUpperCase()}${field.slice(1)}`;
  return [fields[field], fields[negated]].flatMap(list => (Array.isArray(list) ? list.map(String) : []));
}

function addSource(found: Values, source: object, namespace: string, domain: string): void {
  for (const value of named(source, 'principals')) found.add('identity', `spiffe://${example(value, domain)}`);
  for (const value of named(source, 'namespaces')) found.add('identity', identityIn(domain, filled(value), FRESH));
  for (const value of named(source, 'serviceAccounts')) found.add('identity', accountOf(value, namespace, domain));
  for (const value of named(source, 'trustDomains')) found.add('identity', identityIn(filled(value), FRESH, FRESH));
  for (const value of named(source, 'requestPrincipals')) found.add('token', principalOf(value));
  for (const value of named(source, 'ipBlocks')) addRange(found, 'source', value);
  for (const value of named(source, 'remoteIpBlocks')) addRange(found, 'client', value);
}

/** The ends of a range: one of them at least is in no narrower range that begins or ends where this one does. */
function addRange(found: Values, kind: 'source' | 'client', range: string): void {
  const ends = endsOfRange(range);
  for (const address of ends) found.add(kind, address);
}

function addOperation(found: Values, operation: object): void {
  for (const value of named(operation, 'methods')) if (value !== '*') found.add('method', filled(value));
  for (const value of named(operation, 'ports')) found.add('port', value);
  for (const value of named(operation, 'hosts')) if (value !== '*') found.add('host', filled(value));
  for (const value of named(operation, 'paths')) {
    if (value === '*') continue;
    found.add('path', value.endsWith('*') ? value.slice(0, -1) || '/' : pathOf(value));
    if (value.endsWith('*')) found.add('path', pathOf(value));
  }
}

function addCondition(found: Values, key: string, value: string, namespace: string, domain: string): void {
  const [, header] = /^request\.headers\[(.+)\]$/.exec(key) ?? [];
  if (header !== undefined) found.add('header', `${header}: ${filled(value)}`);
  const [, claim] = /^request\.auth\.claims\[(.+)\]$/.exec(key) ?? [];
  if (claim !== undefined) found.add('claim', `${claim}: ${filled(value)}`);
  if (key === 'source.principal') addSource(found, { principals: [value] }, namespace, domain);
  if (key === 'source.namespace') addSource(found, { namespaces: [value] }, namespace, domain);
  if (key === 'source.serviceAccount') addSource(found, { serviceAccounts: [value] }, namespace, domain);
  if (key === 'request.auth.principal') addSource(found, { requestPrincipals: [value] }, namespace, domain);
  if (key === 'request.auth.audiences') found.add('claim', `aud: ${filled(value)}`);
  if (key === 'request.auth.presenter') found.add('claim', `azp: ${filled(value)}`);
  if (key === 'destination.port') found.add('port', value);
  if (key === 'source.ip') addRange(found, 'source', value);
  if (key === 'remote.ip') addRange(found, 'client', value);
}

const identityIn = (domain: string, namespace: string, account: string): string =>
  `spiffe://${domain}/ns/${namespace}/sa/${account}`;

function accountOf(value: string, namespace: string, domain: string): string {
  const slash = value.indexOf('/');
  return slash < 0
    ? identityIn(domain, namespace, value)
    : identityIn(domain, value.slice(0, slash), value.slice(slash + 1));
}

/** A text that the pattern matches. */
function filled(pattern: string): string {
  return pattern === '*' ? FRESH : pattern.replaceAll('*', FRESH);
}

/** A principal that the pattern matches, whole enough to be one. */
function example(pattern: string, domain: string): string {
  const parts = pattern.split('/');
  if (parts[0] === '*' && parts.length > 1) return [domain, ...parts.slice(1).map(filled)].join('/');
  if (pattern === '*') return `${domain}/ns/${FRESH}/sa/${FRESH}`;
  return filled(pattern);
}

function pathOf(pattern: string): string {
  const path = pattern.replace(/\{\*\*?\}/g, FRESH).replaceAll('*', FRESH);
  return path.startsWith('/') ? path : `/${path}`;
}

const principalOf = (value: string): string => (value === '*' ? `${FRESH}/${FRESH}` : filled(value));

function tokenOf(principal: string): Token {
  const slash = principal.lastIndexOf('/');
  return { claims: { iss: principal.slice(0, slash), sub: principal.slice(slash + 1) } };
}

/** A token of the first issuer that is named, with one claim more. */
function claimToken(text: string, found: Values): Token {
  const [path = '', value = ''] = split(text);
  const [principal = `${FRESH}/${FRESH}`] = found.of('token');
  const keys = path.split('][');
  const claim = keys.reduceRight<Json>((inner, key) => ({ [key]: inner }), value);
  return { claims: { ...tokenOf(principal).claims, ...(isObject(claim) ? claim : {}) } };
}

function headerOf(text: string): NonNullable<HttpRequest['headers']> {
  const [name = '', value = ''] = split(text);
  return { [name]: value };
}

function split(text: string): readonly string[] {
  const colon = text.indexOf(': ');
  return [text.slice(0, colon), text.slice(colon + 2)];
}
