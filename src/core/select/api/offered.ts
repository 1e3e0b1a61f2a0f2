// The configuration for clients of the generator `api`: the objects of a kind in force, translated ones included, and a
// ServiceEntry for each service that comes from another kind.
//
// Unlike Envoy's resources these are the same for every client, except the entries of services: they are those of the
// client's scope, with the addresses of its cluster.
// Source: Istio pilot/pkg/networking/apigen/apigen.go (APIGenerator.Generate).

import type { JsonObject } from '../../base/json.ts';
import type { McpKind } from '../../model/mcp-kinds.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Resolution, Service } from '../../model/service.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { istioSchema } from '../../schema/istio-schema.gen.ts';
import type { ServiceEntry } from '../../schema/istio-types.gen.ts';
import { istioProtoJson } from '../../schema/protojson.ts';
import { destinationRulesInForce, gatewaysInForce, translatedVirtualServices } from '../../translate/in-force.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';

/** Argument: a kind. By `namespace/name`. */
export const offeredObjects: Query<McpKind['kind'], readonly Obj[]> = {
  name: 'select/offeredObjects',
  run: (reader, kind) => [...inForce(reader, kind)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
};

/** For the services of the client's scope that are no ServiceEntries. */
export const syntheticEntries: Query<'', readonly Obj<'ServiceEntry'>[]> = {
  name: 'select/syntheticEntries',
  run: reader => {
    const cluster = metadataText(reader, 'CLUSTER_ID');
    return reader
      .get(scopedServices, '')
      .filter(({ registry }) => registry === 'Kubernetes')
      .map(service => reader.select(syntheticEntry, { service, cluster }));
  },
};

/** The whole mesh configuration in force, as protojson. */
export const meshConfigInForce: Query<'', JsonObject> = {
  name: 'select/meshConfigInForce',
  run: reader => {
    const fields = istioSchema.messages[MESH_CONFIG] ?? [];
    const value = Object.fromEntries(fields.map(({ name }) => [name, reader.mesh(name as MeshField)]));
    return istioProtoJson(MESH_CONFIG, value);
  },
};

const MESH_CONFIG = 'istio.mesh.v1alpha1.MeshConfig';
type MeshField = Parameters<Reader['mesh']>[0];

function keyOf({ namespace, name }: Obj): string {
  return configKey(namespace, name);
}

function inForce(reader: Reader, kind: McpKind['kind']): readonly Obj[] {
  switch (kind) {
    case 'Gateway':
      return gatewaysInForce(reader, '');
    case 'VirtualService':
      return [...reader.objects(kind), ...reader.get(translatedVirtualServices, '')];
    case 'DestinationRule': {
      const namespaces = new Set<string>();
      for (const policies of ['BackendTLSPolicy', 'XBackendTrafficPolicy', kind] as const)
        for (const { namespace } of reader.objects(policies)) namespaces.add(namespace);
      return [...namespaces].flatMap(namespace => destinationRulesInForce(reader, namespace));
    }
    default:
      return reader.objects(kind);
  }
}

const RESOLUTIONS: Readonly<Record<Resolution, NonNullable<ServiceEntry['resolution']>>> = {
  Alias: 'NONE',
  ClientSideLB: 'STATIC',
  DNSLB: 'DNS',
  DNSRoundRobinLB: 'DNS_ROUND_ROBIN',
  DynamicDNS: 'DYNAMIC_DNS',
  Passthrough: 'NONE',
};

const NO_ADDRESS = '0.0.0.0';

const syntheticEntry = {
  name: 'select/syntheticEntry',
  run: (
    reader: ProxyReader,
    { service, cluster }: { readonly service: Service; readonly cluster: string },
  ): Obj<'ServiceEntry'> => {
    const { hostname, namespace, name, exportTo, selector, ports } = service;
    const spec: ServiceEntry = {
      hosts: [hostname],
      addresses: addressesOf(service, cluster),
      ports: ports.map(port => ({
        number: port.port,
        name: port.name,
        // Without a protocol the client detects it, as this mesh does.
        ...(port.protocol === 'Unsupported' ? {} : { protocol: port.protocol }),
      })),
      location: service.meshExternal ? 'MESH_EXTERNAL' : 'MESH_INTERNAL',
      resolution: RESOLUTIONS[service.resolution],
      exportTo,
      subjectAltNames: service.serviceAccounts,
      ...(Object.keys(selector).length === 0 ? {} : { workloadSelector: { labels: selector } }),
    };
    return {
      kind: 'ServiceEntry',
      cluster: reader.setting('clusterId'),
      namespace,
      name: `synthetic-${name}`,
      labels: {},
      annotations: {},
      creationTime: service.creationTime,
      // That of a Service is no part of what is recorded of it.
      resourceVersion: '',
      uid: '',
      spec,
    };
  },
};

/** Of the client's cluster, or of all clusters for a client that names none. A headless service has none. */
function addressesOf({ clusterVips, defaultAddress }: Service, cluster: string): readonly string[] {
  const vips = cluster === '' ? Object.values(clusterVips).flat() : (clusterVips[cluster] ?? []).slice(0, 1);
  const found = vips.length === 0 ? [defaultAddress] : [...new Set(vips)].sort();
  return found.filter(address => address !== NO_ADDRESS && address !== '');
}
