// WorkloadEntries of machines that registered with this process: the object while the machine is connected or may come
// back, its absence when it did not, and its health. Every replica writes those of its own machines; the annotation
// istio.io/workloadController says whose they are.
//
// A later connection elsewhere voids what is wished here: the times in the annotations of the live object decide.
// Source: Istio pilot/pkg/autoregistration/controller.go, internal/health/controller.go, internal/state/store.go.

import type { JsonObject } from '../base/json.ts';
import { CONNECTED_AT, DISCONNECTED_AT, WORKLOAD_CONTROLLER } from '../kinds/istio/workload-entry.ts';
import type { WorkloadRegistrationData } from '../kinds/periplus/workload-registration.ts';
import { kubernetesKey, type Obj } from '../model/object.ts';
import type { Query } from '../query/reader.ts';
import { oneOf } from '../translate/derived.ts';
import { MANAGER, type Wish } from './wish.ts';

export const HEALTHY = 'Healthy';

/** Argument ''. */
export const registrations: Query<'', readonly Wish[]> = {
  name: 'wishes/registrations',
  run: reader =>
    reader
      .objects('WorkloadRegistration')
      .flatMap(({ cluster, namespace, name }) => reader.get(ofMachine, kubernetesKey(cluster, namespace, name))),
};

const ofMachine: Query<string, readonly Wish[]> = {
  name: 'wishes/registrationsOfMachine',
  run: (reader, key) => {
    const found = reader.object('WorkloadRegistration', key);
    if (found === undefined) return [];
    return wishesFor(found).map(wish => oneOf(reader, wish));
  },
};

function wishesFor({ cluster, namespace, name, spec }: Obj<'WorkloadRegistration'>): readonly Wish[] {
  const common = { cluster, kind: 'WorkloadEntry', namespace, name, manager: MANAGER, gate: undefined } as const;
  const object = { ...common, subresource: '', verb: 'merge' } as const;
  const status = { ...common, subresource: 'status', verb: 'merge' } as const;
  const { expired, disconnectedAt, connectedAt, controller, health } = spec;
  const isMade = Object.keys(spec.entry).length > 0;
  const isOurs: JsonObject = { metadata: { annotations: { [WORKLOAD_CONTROLLER]: controller } } };
  if (expired) {
    const read: JsonObject = { metadata: { annotations: spec.judged } };
    if (isMade) return [{ ...object, fields: undefined, precondition: { read } }];
    const statusRule = { of: 'without', type: HEALTHY } as const;
    return [{ ...status, fields: { status: {} }, statusRule, precondition: { read } }];
  }
  if (disconnectedAt !== '') {
    const fields = annotated({ [CONNECTED_AT]: null, [DISCONNECTED_AT]: disconnectedAt });
    const notLater = { at: connectedAt, annotations: [CONNECTED_AT] };
    return [{ ...object, fields, precondition: { exists: true, read: isOurs, notLater } }];
  }
  const wishes: Wish[] = [connected(object, spec, isMade)];
  if (health !== undefined) {
    const condition = {
      type: HEALTHY,
      status: health.healthy ? 'True' : 'False',
      lastProbeTime: health.at,
      ...(health.message === '' ? {} : { message: health.message }),
    };
    const fields = { status: { conditions: [condition] } };
    wishes.push({ ...status, fields, statusRule: { of: 'conditions' }, precondition: { read: isOurs } });
  }
  return wishes;
}

function connected(
  object: Pick<Wish, 'cluster' | 'kind' | 'namespace' | 'name' | 'manager' | 'gate' | 'subresource' | 'verb'>,
  { controller, connectedAt, entry }: WorkloadRegistrationData,
  isMade: boolean,
): Wish {
  return {
    ...object,
    fields: annotated({ [WORKLOAD_CONTROLLER]: controller, [CONNECTED_AT]: connectedAt, [DISCONNECTED_AT]: null }),
    ...(isMade ? { atCreation: entry } : {}),
    precondition: {
      ...(isMade ? {} : { exists: true }),
      notLater: { at: connectedAt, annotations: [CONNECTED_AT, DISCONNECTED_AT] },
    },
  };
}

function annotated(annotations: JsonObject): JsonObject {
  return { metadata: { annotations } };
}
