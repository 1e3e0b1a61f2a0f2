// What policies refer to: what they say they are for, and providers of the mesh configuration.

import type { KindName } from '../../model/kind.ts';
import type { PolicyTargetReference } from '../../schema/istio-types.gen.ts';
import { each, type Reference, workloads } from '../references.ts';

const TARGET_KINDS: ReadonlyMap<string, KindName> = new Map([
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
  ['gateway.networking.k8s.io/Gateway', 'KubernetesGateway'],
]);

/**
 * The targets of a policy: by selector, or by name. Services are found by host, because those of every cluster count.
 */
export function policyReferences(obj: {
  readonly namespace: string;
  readonly spec: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly workloadSelector?: { readonly labels?: Readonly<Record<string, string>> };
    readonly targetRef?: PolicyTargetReference;
    readonly targetRefs?: readonly PolicyTargetReference[];
  };
}): readonly Reference[] {
  const { selector, workloadSelector, targetRef, targetRefs } = obj.spec;
  const one = (path: string, target: PolicyTargetReference): readonly Reference[] => of(path, obj.namespace, target);
  return [
    ...workloads('spec.selector', selector?.matchLabels, 'policy'),
    ...workloads('spec.workloadSelector', workloadSelector?.labels, 'policy'),
    ...each('spec.targetRefs', targetRefs, one),
    ...(targetRef === undefined ? [] : one('spec.targetRef', targetRef)),
  ];
}

function of(path: string, namespace: string, target: PolicyTargetReference): readonly Reference[] {
  const { group = '', kind = '', name = '' } = target;
  if (kind === 'Service') return [{ path, host: name, subset: '' }];
  if (kind === 'GatewayClass') return [{ path, kind, namespace: '', name }];
  const found = TARGET_KINDS.get(`${group}/${kind}`);
  return found === undefined ? [] : [{ path, kind: found, namespace, name }];
}
