// WorkloadRegistration: what this process knows of a machine that registered with it, where an API server keeps the
// WorkloadEntry. No user writes one. The wish for the WorkloadEntry and for its health follows from it
// (core/wishes/registrations.ts); the WorkloadEntry itself is what the API server has.
//
// Times are texts (RFC 3339), as they stand in the annotations of the WorkloadEntry.

import type { JsonObject } from '../../base/json.ts';
import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';

export const REGISTRATION_API = 'periplus.internal/v1';

export interface WorkloadRegistrationData {
  /** Name of this control plane, in the annotation of the WorkloadEntry. */
  readonly controller: string;
  /** '': the machine was never connected to this process, which only cleans up after another one. */
  readonly connectedAt: string;
  /** '': it is connected. */
  readonly disconnectedAt: string;
  /** The machine did not come back: what it registered is to go. */
  readonly expired: boolean;
  /** Metadata and spec of a WorkloadEntry that has to be made; empty: the machine has one that it did not register. */
  readonly entry: JsonObject;
  readonly health?: { readonly healthy: boolean; readonly message: string; readonly at: string };
  /** Annotations by which an expired WorkloadEntry was judged; null: absent. */
  readonly judged: JsonObject;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly WorkloadRegistration: { readonly spec: WorkloadRegistrationData; readonly push: 'none' };
  }
}

const TEXTS = ['controller', 'connectedAt', 'disconnectedAt'] as const;
const NOTHING: JsonObject = {};

export const workloadRegistration = kubernetesKind<
  'WorkloadRegistration',
  { readonly spec?: Partial<WorkloadRegistrationData> }
>({
  kind: 'WorkloadRegistration',
  group: 'periplus.internal',
  versions: ['v1'],
  push: 'none',
  messages: {
    Object: [{ name: 'spec', type: { message: 'Spec' } }],
    Spec: [
      ...TEXTS.map(name => ({ name, type: 'string' as const })),
      { name: 'expired', type: 'bool' },
      { name: 'entry', type: 'struct' },
      { name: 'health', type: { message: 'Health' } },
      { name: 'judged', type: 'struct' },
    ],
    Health: [
      { name: 'healthy', type: 'bool' },
      { name: 'message', type: 'string' },
      { name: 'at', type: 'string' },
    ],
  },
  flatten: ({ spec: { controller, connectedAt, disconnectedAt, expired, entry, health, judged } = {} }) => ({
    controller: controller ?? '',
    connectedAt: connectedAt ?? '',
    disconnectedAt: disconnectedAt ?? '',
    expired: expired ?? false,
    entry: entry ?? NOTHING,
    ...(health === undefined
      ? {}
      : { health: { healthy: health.healthy === true, message: health.message ?? '', at: health.at ?? '' } }),
    judged: judged ?? NOTHING,
  }),
});
