// BackendTLSPolicy and XBackendTrafficPolicy: what each gives to its backends, and what its status says of each.
//
// An error of one target also holds for the targets after it, unless they have one of their own, as in istiod.
// Source: Istio pilot/pkg/config/kube/gateway/backend_policies.go.

import { canonicalJson } from '../../base/json.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { PolicyTarget } from '../../schema/gateway-api-types.gen.ts';
import type { TrafficPolicy } from '../../schema/istio-types.gen.ts';
import { backendTls } from './backend-tls.ts';
import { type ConfigError, configError, quoted } from './config-error.ts';
import { type Target, targetOf } from './policy-targets.ts';
import { allOfRevision, ofRevision } from './revision.ts';

export const policyKinds = ['BackendTLSPolicy', 'XBackendTrafficPolicy'] as const;
export type PolicyKind = (typeof policyKinds)[number];

/** What a policy gives to one host of a target. */
export interface PolicyEntry {
  readonly target: Target;
  readonly host: string;
  /** '' for all ports. */
  readonly section: string;
  readonly parts: Pick<TrafficPolicy, 'loadBalancer' | 'retryBudget' | 'tls'>;
}

/** What the status says of one target. */
export interface TargetVerdict {
  readonly ref: PolicyTarget;
  readonly accepted: ConfigError | undefined;
  readonly resolvedRefs: ConfigError | undefined;
  /** `Kind/namespace/name` of the target, if it is there: Gateways whose routes lead to it are ancestors too. */
  readonly backend: string;
}

export interface TranslatedPolicy {
  readonly verdicts: readonly TargetVerdict[];
  readonly acceptedMessage: string;
  readonly ignored: boolean;
  readonly entries: readonly PolicyEntry[];
}

export const IGNORE_ANNOTATION = 'istio.io/ignore-policy-attachment';
const VALID = 'Configuration is valid';
const MIN_RETRY_CONCURRENCY = 10;

export const translatedPolicy: Query<
  { readonly kind: PolicyKind; readonly key: string },
  TranslatedPolicy | undefined
> = {
  name: 'translate/policy',
  key: ({ kind, key }) => `${kind}/${key}`,
  run: (reader, { kind, key }) => {
    if (!arePoliciesRead(reader, kind)) return undefined;
    if (kind === 'BackendTLSPolicy') {
      const policy = ofRevision(reader, reader.object(kind, key));
      return policy === undefined ? undefined : tlsPolicy(reader, policy);
    }
    const policy = ofRevision(reader, reader.object(kind, key));
    return policy === undefined ? undefined : trafficPolicy(reader, policy);
  },
};

export function arePoliciesRead(reader: Reader, kind: PolicyKind): boolean {
  if (!reader.feature('PILOT_ENABLE_GATEWAY_API')) return false;
  return kind === 'BackendTLSPolicy' || reader.feature('PILOT_ENABLE_ALPHA_GATEWAY_API');
}

function isIgnored({ annotations }: Obj): boolean {
  return annotations[IGNORE_ANNOTATION]?.toLowerCase() === 'true';
}

function ignoredPolicy(targetRefs: readonly PolicyTarget[]): TranslatedPolicy {
  const accepted = configError('IgnoredByIstio', `Ignored by Istio due to annotation ${IGNORE_ANNOTATION}=true`);
  const verdicts = targetRefs.map(ref => ({ ref, accepted, resolvedRefs: undefined, backend: '' }));
  return { verdicts, acceptedMessage: VALID, ignored: true, entries: [] };
}

function tlsPolicy(reader: Reader, policy: Obj<'BackendTLSPolicy'>): TranslatedPolicy {
  const { namespace, spec } = policy;
  if (isIgnored(policy)) return ignoredPolicy(spec.targetRefs);
  const { settings, accepted: first, resolvedRefs, warning } = backendTls(reader, namespace, spec.validation);
  let accepted = first;
  const verdicts: TargetVerdict[] = [];
  const entries: PolicyEntry[] = [];
  for (const ref of spec.targetRefs) {
    const found = targetOf(reader, namespace, ref, ['Service', 'ServiceEntry']);
    let backend = '';
    if ('error' in found) accepted = found.error;
    else {
      const { target } = found;
      backend = `${target.kind}/${configKey(namespace, target.name)}`;
      const winner = conflicting(reader, policy, ref);
      if (winner === undefined) {
        const section = ref.sectionName ?? '';
        for (const host of target.hosts) entries.push({ target, host, section, parts: { tls: settings } });
      } else {
        const message = `Conflicts with BackendTLSPolicy ${quoted(winner)} targeting the same backend`;
        accepted = configError('Conflicted', message);
      }
    }
    verdicts.push({ ref, accepted, resolvedRefs, backend });
  }
  return { verdicts, acceptedMessage: `${VALID}${warning}`, ignored: false, entries };
}

/** The name of the policy that has the target, if it is another one. */
function conflicting(
  reader: Reader,
  { namespace, name }: Obj<'BackendTLSPolicy'>,
  ref: PolicyTarget,
): string | undefined {
  const owner = reader.get(ownerOfTarget, { namespace, target: targetText(ref) });
  return owner === name ? undefined : owner;
}

/** The name of the first policy of the namespace for the target, as `targetText` writes it. */
const ownerOfTarget: Query<{ readonly namespace: string; readonly target: string }, string | undefined> = {
  name: 'translate/ownerOfTarget',
  key: ({ namespace, target }) => `${namespace}/${target}`,
  run: (reader, { namespace, target }) => reader.get(ownersOfTargets, namespace).get(target),
};

/**
 * Argument: a namespace. The oldest policy of each target, then the one whose name is smaller; found once for all,
 * since a namespace may have thousands for one target.
 */
const ownersOfTargets: Query<string, ReadonlyMap<string, string>> = {
  name: 'translate/ownersOfTargets',
  run: (reader, namespace) => {
    const policies = allOfRevision(reader, 'BackendTLSPolicy', `${namespace}/`).filter(policy => !isIgnored(policy));
    policies.sort((a, b) => a.creationTime - b.creationTime || (a.name < b.name ? -1 : 1));
    const owners = new Map<string, string>();
    for (const { name, spec } of policies) {
      for (const ref of spec.targetRefs) {
        const target = targetText(ref);
        if (!owners.has(target)) owners.set(target, name);
      }
    }
    return owners;
  },
};

function targetText({ group, kind, name, sectionName }: PolicyTarget): string {
  return canonicalJson([group, kind, name, sectionName ?? null]);
}

function trafficPolicy(reader: Reader, policy: Obj<'XBackendTrafficPolicy'>): TranslatedPolicy {
  const { namespace, spec } = policy;
  if (isIgnored(policy)) return ignoredPolicy(spec.targetRefs);
  const parts = { loadBalancer: {}, ...retryBudget(spec.retryConstraint) };
  let accepted: ConfigError | undefined;
  const verdicts: TargetVerdict[] = [];
  const entries: PolicyEntry[] = [];
  for (const ref of spec.targetRefs) {
    const found = targetOf(reader, namespace, ref, ['Service']);
    if ('error' in found) accepted = found.error;
    else for (const host of found.target.hosts) entries.push({ target: found.target, host, section: '', parts });
    verdicts.push({ ref, accepted, resolvedRefs: undefined, backend: '' });
  }
  const unsupported = spec.sessionPersistence === undefined ? '' : UNSUPPORTED;
  return { verdicts, acceptedMessage: `${VALID}${unsupported}`, ignored: false, entries };
}

const UNSUPPORTED = ', but Istio does not support the following fields: sessionPersistence';

function retryBudget(
  constraint: Obj<'XBackendTrafficPolicy'>['spec']['retryConstraint'],
): Pick<TrafficPolicy, 'retryBudget'> {
  if (constraint === undefined) return {};
  const percent = constraint.budget?.percent;
  const minRetryConcurrency = constraint.minRetryRate?.count ?? MIN_RETRY_CONCURRENCY;
  return { retryBudget: { ...(percent === undefined ? {} : { percent }), minRetryConcurrency } };
}
