// What policies refer to: what they say they are for, and providers of the mesh configuration.

import type { Obj } from '../../model/object.ts';
import type { PolicyTargetReference, ProviderRef } from '../../schema/istio-types.gen.ts';
import type { KindName } from '../kinds.ts';
import { each, type Reference, secret, workloads } from '../references.ts';

const TARGET_KINDS: ReadonlyMap<string, KindName> = new Map([
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
  ['gateway.networking.k8s.io/Gateway', 'KubernetesGateway'],
]);

/** What a policy is for: by selector, or by name. Services are found by host, because those of every cluster count. */
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

export function authorizationPolicyReferences(obj: Obj<'AuthorizationPolicy'>): readonly Reference[] {
  const provider = obj.spec.provider?.name;
  return [...policyReferences(obj), ...(provider ? [{ path: 'spec.provider', provider }] : [])];
}

export function telemetryReferences(obj: Obj<'Telemetry'>): readonly Reference[] {
  const providers = (path: string, { providers }: { readonly providers?: readonly ProviderRef[] }) =>
    each(`${path}.providers`, providers, (at, { name }) => (name ? [{ path: at, provider: name }] : []));
  const { tracing, metrics, accessLogging } = obj.spec;
  return [
    ...policyReferences(obj),
    ...each('spec.tracing', tracing, providers),
    ...each('spec.metrics', metrics, providers),
    ...each('spec.accessLogging', accessLogging, providers),
  ];
}

/** The Secret that the module is pulled with, beside what the filter is for. */
export function wasmPluginReferences(obj: Obj<'WasmPlugin'>): readonly Reference[] {
  return [...policyReferences(obj), ...secret('spec.imagePullSecret', obj.namespace, obj.spec.imagePullSecret)];
}

export function trafficExtensionReferences(obj: Obj<'TrafficExtension'>): readonly Reference[] {
  const { imagePullSecret } = obj.spec.wasm ?? {};
  return [...policyReferences(obj), ...secret('spec.wasm.imagePullSecret', obj.namespace, imagePullSecret)];
}
