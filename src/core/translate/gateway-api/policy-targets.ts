// The backends that policies of the Gateway API are for: a Service or ServiceEntry of the policy's own namespace, or
// one of its ports.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/references.go (ReferenceSet),
// pilot/pkg/config/kube/gateway/backend_policies.go.

import { kubernetesHost } from '../../model/hosts.ts';
import { configKey, kubernetesKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { PolicyTarget } from '../../schema/gateway-api-types.gen.ts';
import { type ConfigError, configError, quoted } from './config-error.ts';
import { ofRevision } from './revision.ts';

export interface TargetPort {
  readonly name: string;
  readonly number: number;
}

export interface Target {
  readonly kind: 'Service' | 'ServiceEntry';
  readonly namespace: string;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly ports: readonly TargetPort[];
}

const KNOWN: ReadonlyMap<string, 'ConfigMap' | 'Secret' | 'Service' | 'ServiceEntry'> = new Map([
  ['/Service', 'Service'],
  ['/ConfigMap', 'ConfigMap'],
  ['/Secret', 'Secret'],
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
]);

export type FoundTarget = { readonly target: Target } | { readonly error: ConfigError };

export function targetOf(
  reader: Reader,
  namespace: string,
  ref: PolicyTarget,
  kinds: readonly Target['kind'][],
): FoundTarget {
  const problem = referenceProblem(reader, namespace, ref);
  if (problem !== undefined) return invalid(problem);
  const kind = kinds.find(one => one === KNOWN.get(`${ref.group}/${ref.kind}`));
  if (kind === undefined) return invalid(`unsupported reference kind: ${ref.kind}`);
  const key = configKey(namespace, ref.name);
  const backend = reader.get(kind === 'Service' ? serviceTarget : entryTarget, key);
  if (backend === undefined) return invalid(`reference ${key} (of kind ${ref.kind}) not found`);
  const target = { kind, namespace, name: ref.name, ...backend };
  const { sectionName = '' } = ref;
  if (sectionName === '' || target.ports.some(({ name }) => name === sectionName)) return { target };
  return invalid(`sectionName ${quoted(sectionName)} does not exist in ${kind} ${key}`);
}

/** Undefined: an object of a known kind, which is there. */
export function referenceProblem(
  reader: Reader,
  namespace: string,
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
): string | undefined {
  const known = KNOWN.get(`${group}/${kind}`);
  if (known === undefined) return `unsupported kind ${kind}`;
  const exists =
    known === 'ServiceEntry'
      ? ofRevision(reader, reader.object('ServiceEntry', configKey(namespace, name)))
      : reader.object(known, kubernetesKey(reader.setting('clusterId'), namespace, name));
  return exists === undefined ? `reference ${configKey(namespace, name)} (of kind ${kind}) not found` : undefined;
}

function invalid(why: string): FoundTarget {
  return { error: configError('TargetNotFound', `targetRefs invalid: ${why}`) };
}

type Backend = Pick<Target, 'hosts' | 'ports'>;

const serviceTarget: Query<string, Backend | undefined> = {
  name: 'translate/serviceTarget',
  run: (reader, key) => {
    const [namespace = '', name = ''] = key.split('/');
    const service = reader.object('Service', kubernetesKey(reader.setting('clusterId'), namespace, name));
    if (service === undefined) return undefined;
    const ports = service.spec.ports.map(port => ({ name: port.name, number: port.port }));
    return { hosts: [kubernetesHost(name, namespace, reader.setting('domainSuffix'))], ports };
  },
};

const entryTarget: Query<string, Backend | undefined> = {
  name: 'translate/entryTarget',
  run: (reader, key) => {
    const entry = ofRevision(reader, reader.object('ServiceEntry', key));
    if (entry === undefined) return undefined;
    const ports = (entry.spec.ports ?? []).map(({ name = '', number = 0 }) => ({ name, number }));
    return { hosts: entry.spec.hosts ?? [], ports };
  },
};
