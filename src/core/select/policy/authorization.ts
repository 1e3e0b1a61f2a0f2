// Authorization inputs of a proxy: its attached AuthorizationPolicies, the trust domains for the expansion of
// principals, and the external authorizers that its CUSTOM policies name.
//
// Policies of the root namespace come before those of the proxy's own. The dry-run annotation is the one annotation
// that counts.
// Source: Istio pilot/pkg/model/authorization.go (ListAuthorizationPolicies),
// pilot/pkg/security/authz/builder/builder.go.

import { goBoolean } from '../../base/go-boolean.ts';
import { groupsOf, joined } from '../../base/groups.ts';
import { byAge, compareText, type Obj } from '../../model/object.ts';
import { LIGHT_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader, Query, Reader, Selection } from '../../query/reader.ts';
import type { AuthorizationPolicy } from '../../schema/istio-types.gen.ts';
import type { PolicySubject } from '../telemetry/traffic-class.ts';
import { isAttached, isAttachedToWorkload, namespaceOf } from './attachment.ts';
import { type ExternalAuthorizer, externalAuthorizer, providerNamed } from './external-authorizer.ts';
import { closedPolicy, exceedsReplacement } from './trust-domain-limit.ts';
import { ownTrustDomains } from './trust-domains.ts';

export const DRY_RUN_ANNOTATION = 'istio.io/dry-run';

/** A policy that applies to the proxy. */
export interface AppliedPolicy {
  readonly namespace: string;
  readonly name: string;
  readonly spec: AuthorizationPolicy;
  /** Its verdict is recorded and has no effect. */
  readonly dryRun: boolean;
}

export interface AuthorizationInputs {
  /** All actions but CUSTOM. */
  readonly policies: readonly AppliedPolicy[];
  /** By name of the provider, in byte order. */
  readonly external: readonly ExternalPolicies[];
  /** The mesh's own, then its aliases. */
  readonly trustDomains: readonly string[];
}

/** The CUSTOM policies that name one provider. */
export interface ExternalPolicies {
  readonly provider: string;
  readonly authorizer: ExternalAuthorizer;
  readonly policies: readonly AppliedPolicy[];
}

export interface PolicyScope {
  /** A further namespace whose policies count, '' for none. */
  readonly beside: string;
  /** What the traffic is for; policies of its namespace count too. */
  readonly subject: PolicySubject;
}

/** Undefined: no policy applies. */
export const authorizationOfProxy: Query<PolicyScope, AuthorizationInputs | undefined> = {
  name: 'select/authorizationOfProxy',
  key: ({ beside, subject }) => `${beside}|${subject}`,
  run: (reader, scope) => {
    const { beside, subject } = scope;
    const attached = attachedPolicies(reader, namespaceOf(subject) || beside, { subject, tunnels: false });
    if (attached.length === 0) return undefined;
    return {
      policies: attached.filter(({ spec }) => spec.action !== 'CUSTOM'),
      external: externalPolicies(
        reader,
        attached.filter(({ spec }) => spec.action === 'CUSTOM'),
      ),
      trustDomains: ownTrustDomains(reader),
    };
  },
};

/**
 * Of the tunnels that the proxy takes; undefined: no policy applies. CUSTOM policies count behind the tunnel alone.
 * Source: Istio pilot/pkg/networking/plugin/authz/authorization.go (NewWaypointTerminationBuilder).
 */
export const authorizationOfTunnels: Query<'', AuthorizationInputs | undefined> = {
  name: 'select/authorizationOfTunnels',
  run: reader => {
    if (!reader.feature('ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES')) return undefined;
    const policies = attachedPolicies(reader, '', { subject: '', tunnels: true });
    return policies.length === 0 ? undefined : { policies, external: [], trustDomains: ownTrustDomains(reader) };
  },
};

/** What policies are attached to. */
interface AttachedTo {
  readonly subject: PolicySubject;
  /** The tunnels that the proxy takes; else the traffic for the subject. */
  readonly tunnels: boolean;
}

/** Of the root namespace, of the proxy's own, and of a further one, '' for none. */
function attachedPolicies(reader: ProxyReader, further: string, to: AttachedTo): readonly AppliedPolicy[] {
  const own = reader.facet('namespace');
  const namespaces = new Set([reader.mesh('rootNamespace'), own, further || own]);
  return joined(
    [...namespaces].map(namespace => {
      const policies = reader.get(authorizationPoliciesIn, namespace);
      return selectInBlocks(reader, attachedOf, policies, LIGHT_BLOCKS, block => ({ policies: block, ...to }));
    }),
  );
}

const attachedOf: Selection<
  AttachedTo & { readonly policies: readonly Obj<'AuthorizationPolicy'>[] },
  readonly AppliedPolicy[]
> = {
  name: 'select/attachedAuthorizationPolicies',
  run: (reader, { policies, subject, tunnels }) => {
    const domains = ownTrustDomains(reader).length;
    return policies
      .filter(({ namespace, spec }) =>
        tunnels
          ? spec.action !== 'CUSTOM' && isAttachedToWorkload(reader, namespace, spec)
          : isAttached(reader, namespace, spec, subject),
      )
      .map(obj => reader.make(appliedPolicy, { obj, domains }));
  },
};

/** Argument: a namespace. Oldest first. */
const authorizationPoliciesIn: Query<string, readonly Obj<'AuthorizationPolicy'>[]> = {
  name: 'select/authorizationPoliciesIn',
  run: (reader: Reader, namespace) => [...reader.objects('AuthorizationPolicy', `${namespace}/`)].sort(byAge),
};

/** `domains`: number of trust domains of the mesh. */
const appliedPolicy: Generator<{ readonly obj: Obj<'AuthorizationPolicy'>; readonly domains: number }, AppliedPolicy> =
  {
    name: 'select/appliedPolicy',
    run: ({ obj: { namespace, name, spec, annotations }, domains }) => ({
      namespace,
      name,
      spec: exceedsReplacement(spec, domains) ? closedPolicy(spec) : spec,
      dryRun: goBoolean(annotations[DRY_RUN_ANNOTATION]) === true,
    }),
  };

function externalPolicies(reader: ProxyReader, custom: readonly AppliedPolicy[]): readonly ExternalPolicies[] {
  const byProvider = groupsOf(custom, ({ spec }) => providerNamed(spec));
  const tooMany = byProvider.size > 1 && !reader.feature('PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS');
  return [...byProvider.keys()].sort(compareText).map(provider => ({
    provider,
    authorizer: tooMany ? severalAuthorizers : reader.get(externalAuthorizer, provider),
    policies: byProvider.get(provider)!,
  }));
}

const severalAuthorizers: ExternalAuthorizer = {
  kind: 'unusable',
  reason: 'several providers for one workload need PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS',
};
