// The attributes of a rule: the side of Envoy's policy (principal or permission), availability in a TCP proxy, and
// matcher of each.
//
// One table for the fields of `from` and `to` and for the keys of `when`. An undefined matcher means that the value
// cannot be rendered.
// Source: Istio pilot/pkg/security/authz/model/model.go, pilot/pkg/security/authz/model/generator.go.

import { trimmed } from '../../../../core/base/trim.ts';
import type { Permission, Principal, StringMatcher, ValueMatcher } from '../../../proto/types.gen.ts';
import { quoteRegex } from '../../common/quote-regex.ts';
import { addressRange } from '../cidr.ts';
import {
  anyValue,
  claimMatcher,
  headerMatcher,
  hostMatcher,
  pathPermission,
  plainClaimMatcher,
  regexMatcher,
  textMatcher,
} from './matchers.ts';
import { expandPrincipals, expandTrustDomains } from './trust-domains.ts';

/** The source of the peer's identity: the TLS connection, or the tunnel's metadata. */
export type PeerIdentity = 'tls' | 'filterState';

export interface RuleContext {
  /** Namespace of the policy. */
  readonly namespace: string;
  readonly tcp: boolean;
  /** gRPC itself decides, which knows fewer attributes. */
  readonly grpc?: boolean;
  readonly peer: PeerIdentity;
  /** The mesh's own trust domain, then its aliases. */
  readonly trustDomains: readonly string[];
  /** Long lists of values → what `renderedValues` gives for them. */
  readonly rendered?: ReadonlyMap<readonly string[], readonly unknown[]>;
}

type Side<M> = {
  /** A TCP proxy does not know it. */
  readonly httpOnly?: boolean;
  /** gRPC takes its matcher for one that matches everything. */
  readonly notGrpc?: boolean;
  /** Values are changed before they are rendered. */
  readonly expand?: (values: readonly string[], context: Pick<RuleContext, 'trustDomains'>) => readonly string[];
} & (
  | { readonly each: (value: string, context: RuleContext) => M | undefined }
  /** One matcher is made of the parts of all values. */
  | { readonly part: (value: string) => unknown; readonly all: (parts: readonly never[]) => M | undefined }
);

export type Attribute =
  | ({ readonly side: 'permission' } & Side<Permission>)
  | ({ readonly side: 'principal' } & Side<Principal>);

const permission = (of: Side<Permission>): Attribute => ({ side: 'permission', ...of });
const principal = (of: Side<Principal>): Attribute => ({ side: 'principal', ...of });

const PORT = /^\d+$/;
const PORT_MAX = 65_535;

export const hosts = permission({ httpOnly: true, each: value => ({ header: hostMatcher(value) }) });
export const methods = permission({
  httpOnly: true,
  each: value => ({ header: headerMatcher(':method', value) }),
});
export const paths = permission({
  httpOnly: true,
  each: (value, { grpc }) => {
    const matcher = pathPermission(value);
    return grpc === true && matcher?.uriTemplate !== undefined ? undefined : matcher;
  },
});
export const ports = permission({
  each: value => (PORT.test(value) && Number(value) <= PORT_MAX ? { destinationPort: Number(value) } : undefined),
});
const destinationIp = permission({
  each: value => {
    const range = addressRange(value);
    return range === undefined ? undefined : { destinationIp: range };
  },
});
const serverName = permission({ notGrpc: true, each: value => ({ requestedServerName: textMatcher(value) }) });

export const principals = principal({
  expand: (values, { trustDomains }) => expandPrincipals(values, trustDomains),
  each: (value, context) => peer(context, textMatcher(value, 'spiffe://')),
});
export const serviceAccounts = principal({
  each: (value, context) => {
    const slash = value.indexOf('/');
    const namespace = slash < 0 ? context.namespace : value.slice(0, slash);
    const account = value.slice(slash + 1);
    const regex = `spiffe://.+/ns/${quoteRegex(namespace)}/(.+/|)sa/${quoteRegex(account)}(/.+)?`;
    return peer(context, regexMatcher(regex));
  },
});
export const trustDomains = principal({
  expand: (values, context) => expandTrustDomains(values, context.trustDomains),
  each: (value, context) => peer(context, trustDomainMatcher(value)),
});
export const namespaces = principal({
  each: (value, context) => peer(context, regexMatcher(`.*/ns/${value.split('*').map(quoteRegex).join('.*')}/.*`)),
});
export const ipBlocks = principal({
  each: value => {
    const range = addressRange(value);
    return range === undefined ? undefined : { directRemoteIp: range };
  },
});
export const remoteIpBlocks = principal({
  each: value => {
    const range = addressRange(value);
    return range === undefined ? undefined : { remoteIp: range };
  },
});
export const requestPrincipals = principal({
  httpOnly: true,
  notGrpc: true,
  part: requestPrincipal,
  all: (ids: readonly Principal[]) => (ids.length === 1 ? ids[0] : { orIds: { ids } }),
});

/** The attribute is none that decides in this context. */
export function isUnknown({ httpOnly, notGrpc }: Attribute, { tcp, grpc }: Pick<RuleContext, 'tcp' | 'grpc'>): boolean {
  return (httpOnly === true && tcp) || (notGrpc === true && grpc === true);
}

/** Of each value its matcher, undefined if it cannot be rendered, or its part of the one matcher. */
export function renderedValues(
  attribute: Attribute,
  values: readonly string[],
  context: RuleContext,
): readonly unknown[] {
  if ('all' in attribute) return values.map(attribute.part);
  return values.map(value => attribute.each(value, context));
}

const exactKeys: ReadonlyMap<string, Attribute> = new Map([
  ['destination.ip', destinationIp],
  ['destination.port', ports],
  ['connection.sni', serverName],
  ['source.ip', ipBlocks],
  ['remote.ip', remoteIpBlocks],
  ['source.namespace', namespaces],
  ['source.trustDomain', trustDomains],
  ['source.serviceAccount', serviceAccounts],
  ['source.principal', principals],
  ['request.auth.principal', requestPrincipals],
  ['request.auth.audiences', claimAttribute(['aud'])],
  ['request.auth.presenter', claimAttribute(['azp'])],
]);

const HEADERS = 'request.headers';
const CLAIMS = 'request.auth.claims';
const EXPERIMENTAL = 'experimental.';

/** The attribute of a key of `when`; undefined: no such attribute. */
export function attributeOfKey(key: string): Attribute | undefined {
  const exact = exactKeys.get(key);
  if (exact !== undefined) return exact;
  if (key.startsWith(`${EXPERIMENTAL}envoy.filters.`)) return metadataAttribute(key.slice(EXPERIMENTAL.length));
  if (key.startsWith(HEADERS)) return headerAttribute(key.slice(HEADERS.length));
  if (key.startsWith(CLAIMS)) return claimAttribute(claimPath(key.slice(CLAIMS.length)));
  return undefined;
}

function headerAttribute(brackets: string): Attribute {
  const name = bracketed(brackets);
  return principal({
    httpOnly: true,
    each: value => (name === undefined ? undefined : { header: headerMatcher(name, value) }),
  });
}

function claimAttribute(claims: readonly string[] | undefined): Attribute {
  return principal({
    httpOnly: true,
    notGrpc: true,
    part: plainText,
    all: (values: readonly ValueMatcher[]) =>
      claims === undefined ? undefined : { metadata: claimMatcher(claims, values) },
  });
}

/** `envoy.filters.<filter>[<key>]`: dynamic metadata of another filter. A value in brackets is an element of a list. */
function metadataAttribute(text: string): Attribute {
  const open = text.indexOf('[');
  return permission({
    notGrpc: true,
    part: one =>
      one.startsWith('[') && one.endsWith(']')
        ? { listMatch: { oneOf: plainText(trimmed(one, '[]')) } }
        : plainText(one),
    all: (values: readonly ValueMatcher[]) => {
      if (open < 0) return undefined;
      const key = text.endsWith(']') ? text.slice(open + 1, -1) : text.slice(open + 1);
      return { metadata: { filter: text.slice(0, open), path: [{ key }], value: anyValue(values) } };
    },
  });
}

function plainText(value: string): ValueMatcher {
  return { stringMatch: textMatcher(value) };
}

/** `[a][b]` → a, b. Brackets inside of a name make the whole inside one name. */
function claimPath(text: string): readonly string[] | undefined {
  if (/^(\[[^[\]]+\])+$/.test(text)) return text.slice(1, -1).split('][');
  const whole = bracketed(text);
  return whole === undefined ? undefined : [whole];
}

function bracketed(text: string): string | undefined {
  return text.length > 2 && text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : undefined;
}

function peer({ peer: identity }: RuleContext, matcher: StringMatcher): Principal {
  return identity === 'tls'
    ? { authenticated: { principalName: matcher } }
    : { filterState: { key: 'io.istio.peer_principal', stringMatch: matcher } };
}

function trustDomainMatcher(value: string): StringMatcher {
  if (value === '*') return { prefix: 'spiffe://' };
  const star = value.indexOf('*');
  if (star < 0) return { prefix: `spiffe://${value}/` };
  const [before, after] = [value.slice(0, star), value.slice(star + 1)];
  return regexMatcher(`spiffe://${quoteRegex(before)}[^/]*${quoteRegex(after)}/.*`);
}

/** `issuer/subject`, cut at the last slash. */
function requestPrincipal(value: string): Principal {
  const [issuer, subject] = issuerAndSubject(value);
  return {
    andIds: {
      ids: [{ metadata: plainClaimMatcher('iss', issuer) }, { metadata: plainClaimMatcher('sub', subject) }],
    },
  };
}

function issuerAndSubject(value: string): readonly [issuer: StringMatcher, subject: StringMatcher] {
  const present = regexMatcher('.+');
  if (value === '*') return [present, present];
  const slash = value.lastIndexOf('/');
  const issuer = slash < 0 ? value : value.slice(0, slash);
  const subject = slash < 0 ? '' : value.slice(slash + 1);
  if (value.startsWith('*')) {
    if (slash < 0) return [present, { suffix: value.slice(1) }];
    return [issuer === '*' ? present : { suffix: issuer.slice(1) }, { exact: subject }];
  }
  if (value.endsWith('*')) {
    if (slash < 0) return [{ prefix: value.slice(0, -1) }, present];
    return [{ exact: issuer }, subject === '*' ? present : { prefix: subject.slice(0, -1) }];
  }
  return [{ exact: issuer }, { exact: subject }];
}
