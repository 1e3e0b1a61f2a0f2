// What authors of security policies should know: policies that cannot be enforced as they are written, and so refuse,
// and policies that protect less than they seem to.
//
// A CUSTOM policy whose authorizer cannot be asked refuses what it matches (Istio
// pilot/pkg/security/authz/builder/extauthz.go). DENY by the peer's identity lets callers without mTLS pass
// (ISTIO-SECURITY-2021-004); hosts are compared with the port that a client sends.

import { keysIn } from '../../kinds/istio/validate/jwks.ts';
import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { customConflicts } from './custom-conflicts.ts';
import { externalAuthorizer, providerNamed } from './external-authorizer.ts';
import { namespaceMtlsMode } from './peer-authentication.ts';
import { exceedsReplacement, REPLACED_PRINCIPALS_MAX } from './trust-domain-limit.ts';
import { ownTrustDomains } from './trust-domains.ts';

export interface PolicyFinding {
  readonly kind: 'AuthorizationPolicy' | 'RequestAuthentication';
  readonly key: string;
  /** `refuses`: an error, what the policy matches is refused; `weak`: a warning. */
  readonly effect: 'refuses' | 'weak';
  readonly path: string;
  readonly message: string;
}

type Told = Pick<PolicyFinding, 'effect' | 'path' | 'message'>;

/** Argument ''. In the order of kinds and objects. */
export const policyFindings: Query<'', readonly PolicyFinding[]> = {
  name: 'select/policyFindings',
  run: reader => [
    ...reader
      .objects('AuthorizationPolicy')
      .flatMap(policy =>
        [
          ...ofProvider(reader, policy),
          ...ofTrustDomains(reader, policy),
          ...ofIdentities(reader, policy),
          ...ofHosts(policy),
        ].map(of(policy)),
      ),
    ...reader
      .objects('RequestAuthentication')
      .flatMap(policy => [...ofKeys(policy), ...ofAudiences(policy)].map(of(policy))),
  ],
};

const of =
  (policy: Obj<'AuthorizationPolicy'> | Obj<'RequestAuthentication'>) =>
  (told: Told): PolicyFinding => ({ kind: policy.kind, key: `${policy.namespace}/${policy.name}`, ...told });

function* ofProvider(reader: Reader, { namespace, name, spec }: Obj<'AuthorizationPolicy'>): IterableIterator<Told> {
  if (spec.action !== 'CUSTOM') return;
  const others = reader.get(customConflicts, '').get(`${namespace}/${name}`);
  if (others !== undefined) {
    const message = `cannot be enforced, so what its rules match is refused: ${others.join(', ')} of another provider selects the same workloads, which needs PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS`;
    yield { effect: 'refuses', path: 'spec.provider.name', message };
  }
  const authorizer = reader.get(externalAuthorizer, providerNamed(spec));
  if (authorizer.kind !== 'unusable') return;
  const message = `cannot be enforced, so what its rules match is refused: ${authorizer.reason}`;
  yield { effect: 'refuses', path: 'spec.provider.name', message };
}

function* ofTrustDomains(reader: Reader, { spec }: Obj<'AuthorizationPolicy'>): IterableIterator<Told> {
  if (!exceedsReplacement(spec, ownTrustDomains(reader).length)) return;
  const message = `has more than ${REPLACED_PRINCIPALS_MAX} principals in all trust domains of the mesh: ALLOW allows nothing, DENY denies everything`;
  yield { effect: 'refuses', path: 'spec.rules', message };
}

const IDENTITY_FIELDS = ['principals', 'namespaces', 'serviceAccounts', 'trustDomains'] as const;

function* ofIdentities(reader: Reader, { spec, namespace }: Obj<'AuthorizationPolicy'>): IterableIterator<Told> {
  if (spec.action !== 'DENY' || reader.get(namespaceMtlsMode, namespace) === 'STRICT') return;
  for (const [i, { from = [] }] of (spec.rules ?? []).entries()) {
    for (const [j, { source = {} }] of from.entries()) {
      const field = IDENTITY_FIELDS.find(name => (source[name] ?? []).length > 0);
      if (field === undefined) continue;
      const message =
        'a caller without mTLS has no identity and is not refused: the namespace is not STRICT (ISTIO-SECURITY-2021-004)';
      yield { effect: 'weak', path: `spec.rules[${i}].from[${j}].source.${field}`, message };
    }
  }
}

/** Where a host that is not matched opens: `hosts` of DENY, `notHosts` of ALLOW. */
function* ofHosts({ spec }: Obj<'AuthorizationPolicy'>): IterableIterator<Told> {
  const field =
    spec.action === 'DENY' ? 'hosts' : spec.action === 'ALLOW' || spec.action === undefined ? 'notHosts' : undefined;
  if (field === undefined) return;
  for (const [i, { to = [] }] of (spec.rules ?? []).entries()) {
    for (const [j, { operation = {} }] of to.entries()) {
      const hosts = operation[field] ?? [];
      const bare = hosts.find(host => !host.includes(':') && !host.endsWith('*') && !hosts.includes(`${host}:*`));
      if (bare === undefined) continue;
      const message = `a request for ${bare} with a port in its host is another host: add "${bare}:*"`;
      yield { effect: 'weak', path: `spec.rules[${i}].to[${j}].operation.${field}`, message };
    }
  }
}

/** Members of a JSON Web Key that only its owner has (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'] as const;

function* ofKeys({ spec }: Obj<'RequestAuthentication'>): IterableIterator<Told> {
  for (const [i, { jwks = '' }] of (spec.jwtRules ?? []).entries()) {
    if (jwks === '' || !keysIn(jwks).some(key => PRIVATE_MEMBERS.some(member => member in key))) continue;
    const message = 'holds a private key: every reader of this object can sign tokens';
    yield { effect: 'weak', path: `spec.jwtRules[${i}].jwks`, message };
  }
}

/**
 * Envoy checks a token that stands where no rule of its issuer looks first by any rule of that issuer (jwt_authn,
 * allow_missing).
 */
function* ofAudiences({ spec }: Obj<'RequestAuthentication'>): IterableIterator<Told> {
  const known = new Map<string, string>();
  for (const [i, { issuer = '', audiences = [] }] of (spec.jwtRules ?? []).entries()) {
    const text = [...audiences].sort().join();
    const first = known.get(issuer);
    known.set(issuer, first ?? text);
    if (first === undefined || first === text) continue;
    const message = `another rule of ${issuer} has other audiences: Envoy may check a token by either of them`;
    yield { effect: 'weak', path: `spec.jwtRules[${i}].audiences`, message };
  }
}
