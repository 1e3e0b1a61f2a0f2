// The destination that a backend of a route means, and its fault.
//
// A soft error leaves the rule: a backend that does not exist keeps its host, one that may not be used has none, and
// requests for it fail. A hard error ends the conversion of the route.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (buildDestination).

import { kubernetesHost } from '../../model/hosts.ts';
import { configKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { servicesOfHost } from '../../registry/services.ts';
import type { BackendDestination } from './backend-destination.ts';
import {
  BACKEND_NOT_FOUND,
  type ConfigError,
  configError,
  INVALID_DESTINATION,
  INVALID_KIND,
  quoted,
  REF_NOT_PERMITTED,
} from './config-error.ts';
import { CORE_SERVICE, INFERENCE_POOL, isGranted } from './grants.ts';
import { inferenceDestination } from './inference-pools.ts';
import { serviceExists } from './parents.ts';
import type { RouteKind } from './route-kinds.ts';

export interface BackendRef {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly port?: number;
}

/** Where a route is converted for. In the mesh no grants are asked for. */
export interface RouteContext {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly mesh: boolean;
}

const HOSTNAME = 'networking.istio.io/Hostname';
const SERVICE_IMPORT = 'multicluster.x-k8s.io/ServiceImport';
const CLUSTER_SET_DOMAIN = 'clusterset.local';

export function backendDestination(reader: Reader, context: RouteContext, ref: BackendRef): BackendDestination {
  const refused = context.mesh ? undefined : grantError(reader, context, ref);
  if (refused !== undefined) return { destination: {}, error: refused };
  const found = lookUp(reader, ref, ref.namespace ?? context.namespace);
  if ('destination' in found) return found;
  if (ref.port === undefined) return hard('port is required in backendRef');
  const error = found.exists ? undefined : configError(BACKEND_NOT_FOUND, `backend(${found.host}) not found`);
  return { destination: { host: found.host, port: { number: ref.port } }, error };
}

function hard(message: string): BackendDestination {
  return { destination: undefined, error: configError(INVALID_DESTINATION, message) };
}

interface Host {
  readonly host: string;
  readonly exists: boolean;
}

function lookUp(reader: Reader, ref: BackendRef, namespace: string): Host | BackendDestination {
  const { group, kind, name } = ref;
  const domain = reader.setting('domainSuffix');
  const key = configKey(namespace, name);
  switch (`${group}/${kind}`) {
    case CORE_SERVICE:
      if (name.includes('.')) {
        return hard('service name invalid; the name of the Service must be used, not the hostname.');
      }
      return { host: kubernetesHost(name, namespace, domain), exists: reader.get(serviceExists, key) };
    case HOSTNAME:
      if (ref.namespace !== undefined) return hard('namespace may not be set with Hostname type');
      return { host: name, exists: reader.get(hostExists, `${namespace}/${name}`) };
    case SERVICE_IMPORT: {
      const suffix = reader.feature('ENABLE_MCS_HOST') ? CLUSTER_SET_DOMAIN : domain;
      return { host: kubernetesHost(name, namespace, suffix), exists: reader.get(serviceExists, key) };
    }
    case INFERENCE_POOL:
      return inferenceDestination(reader, name, namespace);
    default: {
      const message = `referencing unsupported backendRef: group ${quoted(group)} kind ${quoted(kind)}`;
      return { destination: {}, error: configError(INVALID_KIND, message) };
    }
  }
}

/** Argument `namespace/host`: whether the registry has a service of that host in the namespace. */
const hostExists: Query<string, boolean> = {
  name: 'translate/hostExists',
  run: (reader, key) => {
    const slash = key.indexOf('/');
    const namespace = key.slice(0, slash);
    return reader.get(servicesOfHost, key.slice(slash + 1)).some(service => service.namespace === namespace);
  },
};

function grantError(reader: Reader, { kind, namespace }: RouteContext, ref: BackendRef): ConfigError | undefined {
  if (ref.namespace === undefined || ref.namespace === namespace) return undefined;
  const to = { type: `${ref.group}/${ref.kind}`, namespace: ref.namespace, name: ref.name };
  if (isGranted(reader, { kind, namespace }, to)) return undefined;
  return configError(
    REF_NOT_PERMITTED,
    `backendRef ${ref.name}/${ref.namespace} not accessible to a ${kind} in namespace ${quoted(namespace)} (missing a ReferenceGrant?)`,
  );
}
