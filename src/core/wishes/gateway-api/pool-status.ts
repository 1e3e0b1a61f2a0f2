// The statuses of InferencePools: one entry for each Gateway whose routes name the pool. Entries of Gateways of other
// controllers stay.
// Source: Istio pilot/pkg/config/kube/gateway/inferencepool_collection.go (calculateInferencePoolStatus).

import type { JsonObject } from '../../base/json.ts';
import { configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { builtInClasses } from '../../translate/gateway-api/classes.ts';
import { type ConfigError, configError } from '../../translate/gateway-api/config-error.ts';
import { type PoolParent, parentsOfPool, poolOf } from '../../translate/gateway-api/inference-parents.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import type { Wish } from '../wish.ts';
import { condition, conditionsJson } from './conditions.ts';
import { gravest } from './route-status.ts';
import { statusWish, writesStatuses } from './status-wish.ts';

/** Argument ''. */
export const poolStatuses: Query<'', readonly Wish[]> = {
  name: 'wishes/poolStatuses',
  run: reader => {
    if (!writesStatuses(reader) || !reader.feature('ENABLE_GATEWAY_API_INFERENCE_EXTENSION')) return [];
    return allOfRevision(reader, 'InferencePool').flatMap(
      ({ namespace, name }) => reader.get(poolStatus, configKey(namespace, name)) ?? [],
    );
  },
};

const poolStatus: Query<string, Wish | undefined> = {
  name: 'wishes/poolStatus',
  run: (reader, key) => {
    const pool = poolOf(reader, key);
    if (pool === undefined) return undefined;
    const resolved = pickerError(reader, pool);
    const parents = [...reader.get(parentsOfPool, key)]
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map((parent): JsonObject => {
        const [namespace = '', name = ''] = parent.key.split('/');
        return {
          parentRef: { group: PARENT_GROUP, kind: 'Gateway', namespace, name },
          conditions: conditionsJson(pool.generation, [
            condition('Accepted', refusal(parent), 'Accepted', ACCEPTED),
            condition('ResolvedRefs', resolved, 'ResolvedRefs', RESOLVED),
          ]),
        };
      });
    const rule = { of: 'pool', namespace: pool.namespace, gateways: reader.get(ownGateways, '') } as const;
    return statusWish(reader, pool, { parents }, rule);
  },
};

/** The group of Istio's own Gateway, which istiod writes here for one of the Gateway API. */
const PARENT_GROUP = 'networking.istio.io';
const ACCEPTED = 'Referenced by an HTTPRoute accepted by the parentRef Gateway';
const RESOLVED = 'Referenced ExtensionRef resolved successfully';

/** The first route of the Gateway decides. */
function refusal({ key, route, candidates }: PoolParent): ConfigError | undefined {
  if (candidates.some(({ denied }) => denied === undefined)) return undefined;
  const why = gravest(candidates)?.message ?? '';
  return configError('HTTPRouteNotAccepted', `Referenced HTTPRoute ${route} not accepted by Gateway ${key}: ${why}`);
}

function pickerError(reader: Reader, { namespace, spec }: Obj<'InferencePool'>): ConfigError | undefined {
  const { kind, name } = spec.endpointPickerRef;
  const error = (message: string): ConfigError => configError('InvalidExtensionRef', message);
  if (kind !== '' && kind !== 'Service') return error(`Unsupported ExtensionRef kind ${kind}`);
  if (name === '') return error('ExtensionRef not defined');
  const key = kubernetesKey(reader.setting('clusterId'), namespace, name);
  return reader.object('Service', key) === undefined ? error(`Referenced ExtensionRef not found ${name}`) : undefined;
}

/** Argument ''. `namespace/name` of the Gateways whose class has one of our names: their entries are ours to remove. */
const ownGateways: Query<'', readonly string[]> = {
  name: 'wishes/gatewaysOfBuiltInClasses',
  run: reader => {
    const names = new Set(reader.get(builtInClasses, '').map(({ name }) => name));
    return reader
      .objects('KubernetesGateway')
      .filter(({ spec }) => names.has(spec.gatewayClassName))
      .map(({ namespace, name }) => configKey(namespace, name));
  },
};
