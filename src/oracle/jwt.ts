// The jwt_authn filter: the requirement of a request, the tokens that satisfy it, and the request after it: claims in
// dynamic metadata and headers, the token itself removed unless it is forwarded.
//
// The payloads count only if the requirement as a whole is satisfied; headers that would carry claims are taken out
// before (Envoy's source/extensions/filters/http/jwt_authn: verifier.cc, authenticator.cc).

import type { JwtAuthentication, JwtProvider, JwtRequirement } from '../xds/proto/types.gen.ts';
import type { Headers } from './header-matcher.ts';
import { type FoundToken, tokensIn } from './jwt-tokens.ts';
import type { Token } from './question.ts';
import { matchRoute } from './route-match.ts';
import { matchesString } from './string-matcher.ts';

/** As Envoy's status names them, as far as they differ in what follows. */
type Status = 'ok' | 'missed' | 'unknown issuer' | 'audience not allowed' | 'not decodable' | 'expired' | 'signature';

export interface JwtResult {
  /** Undefined: the request goes on. */
  readonly refusal: { readonly status: number; readonly why: string } | undefined;
  readonly why: string;
  /** The metadata under the filter's name; empty without a valid token. */
  readonly payloads: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  /** The route is looked up again, with the new headers and metadata. */
  readonly clearsRoute: boolean;
  readonly unmodelled: readonly string[];
}

interface Context {
  readonly config: JwtAuthentication;
  readonly tokens: Readonly<Record<string, Token>>;
  readonly headers: Map<string, string>;
  readonly payloads: Record<string, unknown>;
  readonly unmodelled: Set<string>;
  clearsRoute: boolean;
}

export function authenticate(
  config: JwtAuthentication,
  headers: Headers,
  tokens: Readonly<Record<string, Token>>,
): JwtResult {
  const context: Context = {
    config,
    tokens,
    headers: new Map(headers),
    payloads: {},
    unmodelled: new Set(config.filterStateRules === undefined ? [] : ['jwt_authn by filter state']),
    clearsRoute: false,
  };
  const passes = (why: string): JwtResult => ({
    ...context,
    refusal: undefined,
    why,
    unmodelled: [...context.unmodelled],
  });
  if (config.bypassCorsPreflight === true && isPreflight(headers)) return passes('a CORS preflight needs no token');
  const rule = (config.rules ?? []).find(({ match }) => 'share' in matchRoute(match ?? {}, headers, undefined));
  const required = rule?.requires ?? config.requirementMap?.[rule?.requirementName ?? ''];
  if (required === undefined) return passes('no token is required');
  const status = verify(required, context);
  if (status === 'ok') {
    const tells = Object.keys(context.payloads).length > 0;
    return passes(tells ? 'a token is good' : 'no token, and none is required');
  }
  const code = status === 'audience not allowed' ? 403 : 401;
  const why = `the token is refused: ${status}`;
  return { ...passes(why), headers, payloads: {}, refusal: { status: code, why } };
}

function isPreflight(headers: Headers): boolean {
  return (
    headers.get(':method') === 'OPTIONS' &&
    (headers.get('origin') ?? '') !== '' &&
    (headers.get('access-control-request-method') ?? '') !== ''
  );
}

function verify(requirement: JwtRequirement, context: Context): Status {
  const { requiresAny, requiresAll, providerName, providerAndAudiences } = requirement;
  if (requiresAny !== undefined) return verifyAny(requiresAny.requirements ?? [], context);
  if (requiresAll !== undefined) {
    return (requiresAll.requirements ?? []).reduce<Status>(
      (status, one) => (status === 'ok' ? verify(one, context) : status),
      'ok',
    );
  }
  if (providerAndAudiences !== undefined) {
    return verifyProvider(providerAndAudiences.providerName ?? '', context, providerAndAudiences.audiences);
  }
  if (providerName !== undefined) return verifyProvider(providerName, context);
  if (requirement.allowMissing !== undefined) return verifyOptional(namedProviders([], context), context, false);
  if (requirement.allowMissingOrFailed !== undefined) return verifyOptional(namedProviders([], context), context, true);
  if (requirement.extractOnlyWithoutValidation !== undefined) context.unmodelled.add('jwt_authn without validation');
  return 'ok';
}

/** What allows a token to be missing comes last, and looks at the places of the providers beside it. */
function verifyAny(requirements: readonly JwtRequirement[], context: Context): Status {
  const optional =
    requirements.find(one => one.allowMissingOrFailed !== undefined) ??
    requirements.find(one => one.allowMissing !== undefined);
  const regular = requirements.filter(one => one.allowMissing === undefined && one.allowMissingOrFailed === undefined);
  let [last, telling]: [Status, Status | undefined] = ['missed', undefined];
  const tell = (status: Status): boolean => {
    last = status;
    if (status !== 'missed' && status !== 'unknown issuer') telling = status;
    return status === 'ok';
  };
  for (const one of regular) if (tell(verify(one, context))) return 'ok';
  if (optional !== undefined) {
    const used = regular.flatMap(one => one.providerName ?? one.providerAndAudiences?.providerName ?? []);
    const status = verifyOptional(namedProviders(used, context), context, optional.allowMissingOrFailed !== undefined);
    if (tell(status)) return 'ok';
  }
  return telling ?? last;
}

function namedProviders(names: readonly string[], { config }: Context): readonly JwtProvider[] {
  return names.flatMap(name => config.providers?.[name] ?? []);
}

/** Every token in the provider's places must be good. */
function verifyProvider(name: string, context: Context, audiences?: readonly string[]): Status {
  const provider = context.config.providers?.[name];
  if (provider === undefined) return 'unknown issuer';
  sanitize([provider], context);
  const found = tokensIn(context.headers, [provider]);
  if (found.length === 0) return 'missed';
  for (const token of [...found].reverse()) {
    const status = verifyToken(token, provider, context, audiences);
    if (status !== 'ok') return status;
  }
  return 'ok';
}

/** A token that is there is checked by the provider of its issuer; the first place decides. */
function verifyOptional(providers: readonly JwtProvider[], context: Context, mayFail: boolean): Status {
  sanitize(providers, context);
  const found = tokensIn(context.headers, providers);
  let status: Status = 'ok';
  for (const token of [...found].reverse()) {
    const issuer = context.tokens[token.text]?.claims.iss;
    const all = Object.values(context.config.providers ?? {});
    const own = all.filter(one => one.issuer === issuer);
    const provider = own[0] ?? all.find(one => !one.issuer);
    // Envoy takes one of them, by the order of a hash map.
    const unlike = own.some(one => (one.audiences ?? []).join() !== (own[0]!.audiences ?? []).join());
    if (unlike) context.unmodelled.add(`which of several rules of the issuer ${issuer} is asked for its audiences`);
    status = provider === undefined ? 'unknown issuer' : verifyToken(token, provider, context);
  }
  return mayFail ? 'ok' : status;
}

function sanitize(providers: readonly JwtProvider[], { headers }: Context): void {
  for (const { forwardPayloadHeader, claimToHeaders = [] } of providers) {
    if (forwardPayloadHeader) headers.delete(forwardPayloadHeader.toLowerCase());
    for (const { headerName = '' } of claimToHeaders) headers.delete(headerName.toLowerCase());
  }
}

function verifyToken(
  { text, header, issuers }: FoundToken,
  provider: JwtProvider,
  context: Context,
  audiences: readonly string[] = provider.audiences ?? [],
): Status {
  const token = Object.hasOwn(context.tokens, text) ? context.tokens[text] : undefined;
  if (token === undefined) return 'not decodable';
  const { claims } = token;
  const issuer = typeof claims.iss === 'string' ? claims.iss : '';
  if (issuers !== undefined && !issuers.includes(issuer)) return 'unknown issuer';
  const subject = typeof claims.sub === 'string' ? claims.sub : '';
  if (provider.subjects !== undefined && !matchesString(provider.subjects, subject)) return 'signature';
  if (token.expired === true) return 'expired';
  if (
    audiences.length > 0 &&
    !audiencesOf(claims.aud).some(one => audiences.some(wanted => sameAudience(one, wanted)))
  ) {
    return 'audience not allowed';
  }
  if (token.genuine === false) return 'signature';
  accept(claims, provider, header, context);
  return 'ok';
}

const audiencesOf = (aud: unknown): readonly string[] =>
  typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud.filter(one => typeof one === 'string') : [];

/** Scheme and a trailing slash do not count. */
const sameAudience = (a: string, b: string): boolean => plainAudience(a) === plainAudience(b);
const plainAudience = (text: string): string => text.replace(/^https?:\/\//, '').replace(/\/$/, '');

function accept(claims: Token['claims'], provider: JwtProvider, header: string | undefined, context: Context): void {
  const { headers, payloads } = context;
  for (const { headerName = '', claimName = '' } of provider.claimToHeaders ?? []) {
    const value = claims[claimName];
    if (['string', 'number', 'boolean'].includes(typeof value)) headers.set(headerName.toLowerCase(), String(value));
  }
  if (provider.forwardPayloadHeader) headers.set(provider.forwardPayloadHeader.toLowerCase(), '<payload>');
  if (provider.forward !== true && header !== undefined) headers.delete(header);
  if (provider.clearRouteCache === true) context.clearsRoute = true;
  if (!provider.payloadInMetadata) return;
  const split = provider.normalizePayloadInMetadata?.spaceDelimitedClaims ?? [];
  payloads[provider.payloadInMetadata] = Object.fromEntries(
    Object.entries(claims).map(([name, value]) =>
      typeof value === 'string' && split.includes(name) ? [name, value.split(' ').filter(Boolean)] : [name, value],
    ),
  );
}
