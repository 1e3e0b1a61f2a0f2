// Workloads with CUSTOM policies of several providers, which only PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS allows:
// without it all that these policies match is refused (Istio pilot/pkg/security/authz/builder/builder.go).
//
// Two policies meet if one selects what the other selects, or if a pod is there that both select.

import { canonicalJson, type Json } from '../../base/json.ts';
import { type Labels, selects } from '../../base/labels.ts';
import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { providerNamed } from './external-authorizer.ts';

type Policy = Obj<'AuthorizationPolicy'>;

/** Argument ''. Policy → the policies of other providers that it meets, in key order. */
export const customConflicts: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'select/customConflicts',
  run: reader => {
    const found = new Map<string, readonly string[]>();
    if (reader.feature('PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS')) return found;
    const custom = reader.objects('AuthorizationPolicy').filter(({ spec }) => spec.action === 'CUSTOM');
    for (const policy of custom) {
      const others = custom.filter(
        other => providerNamed(other.spec) !== providerNamed(policy.spec) && doMeet(reader, policy, other),
      );
      if (others.length > 0) found.set(nameOf(policy), others.map(nameOf));
    }
    return found;
  },
};

const nameOf = ({ namespace, name }: Policy): string => `${namespace}/${name}`;
const labelsOf = ({ spec }: Policy): Labels => spec.selector?.matchLabels ?? {};

function doMeet(reader: Reader, one: Policy, other: Policy): boolean {
  // Attached to a Gateway or Service by name: compared by the names.
  const targets = [one, other].map(({ spec }) => canonicalJson((spec.targetRefs ?? spec.targetRef ?? null) as Json));
  if (targets[0] !== targets[1]) return false;
  const root = reader.mesh('rootNamespace');
  const namespaces = [one, other].map(({ namespace }) => namespace).filter(namespace => namespace !== root);
  const [namespace = root, second = namespace] = namespaces;
  if (namespace !== second) return false;
  const [a, b] = [labelsOf(one), labelsOf(other)];
  if (selects(a, b) || selects(b, a)) return true;
  return reader.indexed('podsByNamespace', namespace).some(({ labels }) => selects(a, labels) && selects(b, labels));
}
