// Where proxies fetch certificates from: the agent beside them, or this control plane over ADS.
// Source: Istio pilot/pkg/security/model/authentication.go (ConstructSdsSecretConfig,
// ConstructSdsSecretConfigForCredential).

import { CREDENTIAL_SDS_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import { ROOT_SECRET, WORKLOAD_SECRET } from '../../../core/select/secret/credentials.ts';
import { CA_SUFFIX } from '../../../core/select/secret/gateway-references.ts';

import { ApiConfigSource_ApiType, ApiVersion, type ConfigSource, type SdsSecretConfig } from '../../proto/types.gen.ts';

export { ROOT_SECRET, WORKLOAD_SECRET };

/** The bootstrap cluster of the agent's socket. */
export const AGENT_SDS_CLUSTER = 'sds-grpc';
/** The bootstrap cluster of an SDS server for files. */
export const FILE_SDS_CLUSTER = 'sds-files-grpc';

/**
 * The workload certificate or the mesh's roots: from the agent, waited for without limit, or over ADS. Envoy finds a
 * secret's provider by name and source, so the source of one name is the same everywhere and always.
 */
export function workloadSecret(name: typeof WORKLOAD_SECRET | typeof ROOT_SECRET, overAds: boolean): SdsSecretConfig {
  return overAds ? adsSecret(name) : { name, sdsConfig: agentSource };
}

const agentSource: ConfigSource = { ...grpcSource(AGENT_SDS_CLUSTER), initialFetchTimeout: { seconds: 0, nanos: 0 } };

/** A secret by its SDS name, from an SDS server that is a cluster of the proxy. */
export function clusterSecret(name: string, cluster: string): SdsSecretConfig {
  return { name, sdsConfig: grpcSource(cluster) };
}

/** A secret that the control plane serves. */
function adsSecret(name: string): SdsSecretConfig {
  return { name, sdsConfig: { ads: {}, resourceApiVersion: ApiVersion.V3 } };
}

/** Stands for a secret that its author could not name; there is none, and what waits for it is not served. */
const INVALID = 'invalid://';

/**
 * The secret that a `credentialName` stands for; `ca`: the one with its certificate authority. `external` is the
 * cluster of the server for names that begin with `sds://`: CREDENTIAL_SDS_CLUSTER knows them with that beginning,
 * others without; '': this control plane does; undefined: it is a provider of a service that does not exist.
 */
export function credentialSecret(
  credentialName: string,
  ca: boolean,
  external: string | undefined,
  overAds = false,
): SdsSecretConfig {
  if (credentialName.startsWith('builtin://')) return workloadSecret(ca ? ROOT_SECRET : WORKLOAD_SECRET, overAds);
  if (credentialName.startsWith(INVALID)) return adsSecret(INVALID);
  const name = ca ? `${credentialName}${CA_SUFFIX}` : credentialName;
  if (!name.startsWith(EXTERNAL)) return controlPlaneSecret(name);
  if (external === undefined) return adsSecret(INVALID);
  if (external === CREDENTIAL_SDS_CLUSTER) return clusterSecret(name, external);
  const bare = name.slice(EXTERNAL.length);
  return external === '' ? controlPlaneSecret(bare) : clusterSecret(bare, external);
}

const EXTERNAL = 'sds://';

function controlPlaneSecret(name: string): SdsSecretConfig {
  const known = ['kubernetes://', 'kubernetes-gateway://', 'configmap://'].some(prefix => name.startsWith(prefix));
  return adsSecret(known ? name : `kubernetes://${name}`);
}

function grpcSource(clusterName: string): ConfigSource {
  return {
    apiConfigSource: {
      apiType: ApiConfigSource_ApiType.GRPC,
      transportApiVersion: ApiVersion.V3,
      setNodeOnFirstMessageOnly: true,
      grpcServices: [{ envoyGrpc: { clusterName } }],
    },
    resourceApiVersion: ApiVersion.V3,
  };
}
