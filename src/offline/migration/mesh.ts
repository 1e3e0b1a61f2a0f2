// Settings of the mesh configuration that have no effect here, or another one than in istiod. `UNREAD` has every field
// of MeshConfig that no part reads: a test holds it against the sources.

import type { Received } from '../../analysis/objects.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { State } from '../../core/state.ts';
import type { Found } from './found.ts';

/** Field of MeshConfig → what does not happen. */
export const UNREAD: Readonly<Record<string, string>> = {
  ca: 'certificates are signed by the own authority, or by EXTERNAL_CA',
  certificates: 'no DNS certificates are provisioned',
  serviceScopeConfigs: 'ztunnels get the services of the config cluster alone',
  verifyCertificateAtClient: 'DestinationRules alone decide whether certificates of servers are verified',
};

export function meshFindings(state: State, objects: readonly Received[]): readonly Found[] {
  const { raw, others = {} } = state.mesh;
  const layers = [raw, others.configMap?.raw, others.shared?.raw];
  const received = meshObject(state, objects);
  return layers.filter(isObject).flatMap(layer => ofLayer(layer).map(found => ({ ...found, received })));
}

type FoundHere = Omit<Found, 'received'>;

function ofLayer(mesh: JsonObject): readonly FoundHere[] {
  const unread = Object.entries(UNREAD).filter(([field]) => mesh[field] !== undefined && mesh[field] !== null);
  return [
    ...unread.map(([path, why]): FoundHere => ({ level: 'Warning', text: `${path} has no effect: ${why}`, path })),
    ...listed(mesh.configSources).flatMap(ofConfigSource),
    ...listed(mesh.extensionProviders).flatMap(ofProvider),
  ];
}

function listed(value: Json | undefined): readonly (readonly [value: JsonObject, at: number])[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).flatMap((one, at) => (isObject(one) ? [[one, at] as const] : []));
}

function ofConfigSource([{ address }, at]: readonly [JsonObject, number]): readonly FoundHere[] {
  if (typeof address !== 'string' || address.startsWith('xds://') || address === 'k8s://') return [];
  const text = `${address} is not read: folders are given by --configDir, clusters by --kubeconfig`;
  return [{ level: 'Error', text, path: `configSources[${at}].address` }];
}

function ofProvider([provider, at]: readonly [JsonObject, number]): readonly FoundHere[] {
  const path = `extensionProviders[${at}]`;
  const found: FoundHere[] = [];
  if (isObject(provider.lightstep)) {
    found.push({ level: 'Warning', text: 'a provider of type lightstep traces nothing', path: `${path}.lightstep` });
  }
  for (const [type, settings] of Object.entries(provider)) {
    if (!isObject(settings)) continue;
    for (const [headers, i] of namedByEnvironment(settings)) {
      const text = 'the value of a header is taken from the environment only of feature flags; here it is empty';
      found.push({ level: 'Warning', text, path: `${path}.${type}.${headers}[${i}].envName` });
    }
  }
  return found;
}

/** Headers whose value is a variable of the control plane: `http.headers`, `grpc.initialMetadata`. */
function namedByEnvironment(settings: JsonObject): readonly (readonly [headers: string, at: number])[] {
  const places = [
    ['http.headers', isObject(settings.http) ? settings.http.headers : undefined],
    ['grpc.initialMetadata', isObject(settings.grpc) ? settings.grpc.initialMetadata : undefined],
  ] as const;
  return places.flatMap(([name, headers]) =>
    listed(headers).flatMap(([header, at]) => (typeof header.envName === 'string' ? [[name, at] as const] : [])),
  );
}

/** The ConfigMap, where the configuration came from one. */
function meshObject({ settings }: State, objects: readonly Received[]): Received {
  const { clusterId: cluster, revision, systemNamespace } = settings;
  const names = ['istio', `istio-${revision}`];
  const found = objects.find(({ object: { kind, metadata } }) => {
    if (kind !== 'ConfigMap' || !isObject(metadata)) return false;
    return metadata.namespace === systemNamespace && names.includes(String(metadata.name));
  });
  return found ?? { object: { kind: 'MeshConfig', metadata: { name: 'mesh' } }, source: `file/${cluster}`, cluster };
}
