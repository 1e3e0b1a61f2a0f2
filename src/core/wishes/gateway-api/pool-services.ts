// The headless Service that stands for an InferencePool which a route of ours names: the registry finds the pool's
// endpoints by it, and its labels say which picker chooses among them.
//
// A Service of that name without the label of a pool belongs to a user and is left alone. Nothing is deleted: the pool
// owns what is made for it.
// Source: Istio pilot/pkg/config/kube/gateway/inferencepool_collection.go (translateShadowServiceToService).

import { configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { oneOf } from '../../translate/derived.ts';
import { POOL_LABELS, POOL_SEMANTICS, SERVICE_SEMANTICS } from '../../translate/gateway-api/endpoint-picker.ts';
import { parentsOfPool, poolOf } from '../../translate/gateway-api/inference-parents.ts';
import { inferenceServiceName } from '../../translate/gateway-api/inference-service.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import type { Wish } from '../wish.ts';

const MANAGER = 'istio.io/inference-pool-controller';
/** Of the first target port; no client connects to it. */
const FIRST_PORT = 54_321;
const LIST_KEYS: Readonly<Record<string, string>> = { 'spec.ports': 'port', 'metadata.ownerReferences': 'uid' };

/** Argument ''. */
export const poolServices: Query<'', readonly Wish[]> = {
  name: 'wishes/poolServices',
  run: reader => {
    if (!reader.feature('ENABLE_GATEWAY_API_INFERENCE_EXTENSION')) return [];
    return allOfRevision(reader, 'InferencePool').flatMap(
      ({ namespace, name }) => reader.get(poolService, configKey(namespace, name)) ?? [],
    );
  },
};

const poolService: Query<string, Wish | undefined> = {
  name: 'wishes/poolService',
  run: (reader, key) => {
    const pool = poolOf(reader, key);
    if (pool === undefined || pool.spec.endpointPickerRef.port === undefined) return undefined;
    if (reader.get(parentsOfPool, key).length === 0 || isForeign(reader, pool)) return undefined;
    return oneOf<Wish>(reader, {
      cluster: reader.setting('clusterId'),
      kind: 'Service',
      namespace: pool.namespace,
      name: inferenceServiceName(pool.name),
      subresource: '',
      manager: MANAGER,
      fields: fieldsOf(pool, pool.spec.endpointPickerRef.port.number),
      verb: 'apply',
      gate: 'istio-gateway-status-leader',
      listKeys: LIST_KEYS,
    });
  },
};

function isForeign(reader: Reader, { namespace, name }: Obj<'InferencePool'>): boolean {
  const key = kubernetesKey(reader.setting('clusterId'), namespace, inferenceServiceName(name));
  const there = reader.object('Service', key);
  return there !== undefined && there.labels[POOL_LABELS.pool] === undefined;
}

function fieldsOf({ name, uid, spec }: Obj<'InferencePool'>, picker: number): NonNullable<Wish['fields']> {
  const { appProtocol, endpointPickerRef, selector, targetPorts } = spec;
  return {
    metadata: {
      labels: {
        [POOL_LABELS.pool]: name,
        [POOL_LABELS.service]: endpointPickerRef.name,
        [POOL_LABELS.port]: String(picker),
        [POOL_LABELS.failureMode]: endpointPickerRef.failureMode,
        [SERVICE_SEMANTICS]: POOL_SEMANTICS,
      },
      ownerReferences: [{ apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool', name, uid }],
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: selector.matchLabels,
      ports: targetPorts.map(({ number }, i) => ({
        name: `http-${i}`,
        protocol: 'TCP',
        port: FIRST_PORT + i,
        targetPort: number,
        appProtocol,
      })),
    },
  };
}
