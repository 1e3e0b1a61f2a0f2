// The token rules of a proxy: those of all RequestAuthentications attached to it, and where the keys of each come from.
//
// Policies of the proxy's own namespace come before those of the root namespace, the other way round than with
// AuthorizationPolicy; that decides only between rules of one issuer. Keys are inline, fetched by the proxy itself, or
// fetched by the control plane, whose answers are objects of kind JwksDocument; before the first answer there are keys
// that no token matches.
// Source: Istio pilot/pkg/model/authentication.go (GetJwtPoliciesForWorkload),
// pilot/pkg/security/authn/policy_applier.go.

import { assert } from '../../base/assert.ts';
import { joined } from '../../base/groups.ts';
import { milliseconds } from '../../kinds/istio/validate/durations.ts';
import { jwksKey } from '../../kinds/periplus/jwks-document.ts';
import { byAge, compareText, type Obj } from '../../model/object.ts';
import { LIGHT_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import { parseUrl } from '../../schema/go-url.ts';
import type { JWTRule } from '../../schema/istio-types.gen.ts';
import { subjectsOf } from '../ambient/subjects.ts';
import { outboundClusterName } from '../cluster/cluster-names.ts';
import { providerCluster } from '../telemetry/provider-cluster.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';
import { isAttached, namespaceOf } from './attachment.ts';

export interface TokenRule {
  readonly rule: JWTRule;
  readonly keys: TokenKeys;
}

export type TokenKeys =
  | { readonly kind: 'inline'; readonly text: string }
  | { readonly kind: 'remote'; readonly uri: string; readonly cluster: string }
  /** Fetched by the control plane; undefined: not yet. */
  | { readonly kind: 'fetched'; readonly text: string | undefined };

/** By issuer, then in the order of the policies. Argument: what the traffic is for. */
export const tokenRulesOfProxy: Query<PolicySubject, readonly TokenRule[]> = {
  name: 'select/tokenRulesOfProxy',
  run: (reader, subject) => {
    const own = reader.facet('namespace');
    const namespaces = new Set([own, reader.mesh('rootNamespace'), namespaceOf(subject) || own]);
    const rules = [...namespaces].map(namespace => {
      const policies = reader.get(requestAuthenticationsIn, namespace);
      const itemOf = (block: PoliciesOf['policies']): PoliciesOf => ({ policies: block, namespace, subject });
      return selectInBlocks(reader, attachedRules, policies, LIGHT_BLOCKS, itemOf);
    });
    return joined(rules).sort((a, b) => compareText(a.rule.issuer ?? '', b.rule.issuer ?? ''));
  },
};

interface PoliciesOf {
  readonly policies: readonly Obj<'RequestAuthentication'>[];
  readonly namespace: string;
  readonly subject: PolicySubject;
}

/** Of the policies that are attached, in their order. */
const attachedRules: Selection<PoliciesOf, readonly TokenRule[]> = {
  name: 'select/attachedTokenRules',
  run: (reader, { policies, namespace, subject }) =>
    policies
      .filter(policy => isAttached(reader, namespace, policy.spec, subject))
      .flatMap(policy => policy.spec.jwtRules ?? [])
      .map(rule => ({ rule, keys: keysOf(reader, rule) })),
};

/** Argument: a namespace. Oldest first. */
const requestAuthenticationsIn: Query<string, readonly Obj<'RequestAuthentication'>[]> = {
  name: 'select/requestAuthenticationsIn',
  run: (reader, namespace) => [...reader.objects('RequestAuthentication', `${namespace}/`)].sort(byAge),
};

type Fetcher = 'istiod' | 'hybrid' | 'envoy';

/** Who fetches keys (PILOT_JWT_ENABLE_REMOTE_JWKS); a word that is not known means the control plane. */
function fetcherOf(reader: Reader): Fetcher {
  switch (reader.feature('PILOT_JWT_ENABLE_REMOTE_JWKS')) {
    case 'hybrid':
    case 'true':
      return 'hybrid';
    case 'envoy':
      return 'envoy';
    default:
      return 'istiod';
  }
}

function keysOf(reader: Reader, { issuer = '', jwksUri = '', jwks = '' }: JWTRule): TokenKeys {
  const fetcher = fetcherOf(reader);
  if (jwksUri === '' || fetcher === 'istiod') {
    return jwks === '' ? fetchedKeys(reader, issuer, jwksUri) : { kind: 'inline', text: jwks };
  }
  const { hostname, port } = hostOf(jwksUri);
  const known = providerCluster(reader, hostname, port);
  if (known !== undefined) return { kind: 'remote', uri: jwksUri, cluster: known.cluster };
  if (fetcher === 'hybrid') return fetchedKeys(reader, issuer, jwksUri);
  return { kind: 'remote', uri: jwksUri, cluster: outboundClusterName(hostname, '', port) };
}

/** Argument ''. The hosts of the proxy's key sets, where it may be the proxy that fetches them. */
export const hostsOfKeySets: Query<'', readonly string[]> = {
  name: 'select/hostsOfKeySets',
  run: reader => {
    if (fetcherOf(reader) === 'istiod') return [];
    const uris = subjectsOf(reader)
      .flatMap(subject => reader.get(tokenRulesOfProxy, subject))
      .flatMap(({ rule: { jwksUri } }) => jwksUri || []);
    return [...new Set(uris.map(uri => hostOf(uri).hostname))].sort();
  },
};

function fetchedKeys(reader: Reader, issuer: string, uri: string): TokenKeys {
  const [document] = reader.indexed('jwksByIssuer', jwksKey(issuer, uri));
  return { kind: 'fetched', text: document?.spec.keys };
}

/** Of a URI that was accepted, so its scheme is http or https. */
function hostOf(uri: string): { readonly hostname: string; readonly port: number } {
  const url = parseUrl(uri);
  assert(url !== undefined, 'the URI of a key set was accepted');
  return { hostname: url.hostname, port: Number(url.port || (url.scheme === 'https' ? 443 : 80)) };
}

/** A key set that the control plane fetches. */
export interface WantedJwks {
  readonly issuer: string;
  readonly jwksUri: string;
  /** Of one request: the longest that a rule with these keys asks for. */
  readonly timeoutMs: number;
}

/**
 * Of all RequestAuthentications in force, by issuer and URI: also of those that no connected proxy has, so that the
 * keys are there when one comes.
 */
export const wantedJwks: Query<'', readonly WantedJwks[]> = {
  name: 'select/wantedJwks',
  run: reader => {
    const wanted = new Map<string, WantedJwks>();
    for (const { spec } of reader.objects('RequestAuthentication')) {
      for (const rule of spec.jwtRules ?? []) {
        if (keysOf(reader, rule).kind !== 'fetched') continue;
        const { issuer = '', jwksUri = '' } = rule;
        const key = jwksKey(issuer, jwksUri);
        const timeoutMs = Math.max(wanted.get(key)?.timeoutMs ?? 0, requestMsOf(rule));
        wanted.set(key, { issuer, jwksUri, timeoutMs });
      }
    }
    return [...wanted].sort(([a], [b]) => compareText(a, b)).map(([, one]) => one);
  },
};

const REQUEST_MS = 5_000;

function requestMsOf({ timeout }: JWTRule): number {
  return timeout === undefined ? REQUEST_MS : milliseconds(timeout);
}
