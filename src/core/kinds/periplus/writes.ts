// Results of writing to a cluster, as objects of the source that writes (docs/adr/0009, 0021): a replay knows who led
// and which writes were refused without asking a server. A write that succeeds is no fact: the watch shows the object.
//
//     Leadership    this process holds an election: the object is there as long     name: that of the lock
//     WriteRefusal  the API server refused a wish: as long as the wish is refused   name: digest of the wish's key
//     WebhookProof  the API server has asked our validating webhook, and heard it   name: that of the webhook

import { kubernetesKind } from '../kubernetes/kubernetes-kind.ts';

export const WRITES_API = 'periplus.internal/v1';

export interface LeadershipData {
  /** As in elections.ts, without the revision. */
  readonly election: string;
  readonly holder: string;
}
export interface WriteRefusalData {
  /** e.g. `ConfigMap default/istio-ca-root-cert` */
  readonly target: string;
  /** HTTP */
  readonly status: number;
  readonly reason: string;
}

export type WebhookProofData = Readonly<Record<string, never>>;

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Leadership: { readonly spec: LeadershipData; readonly push: 'none' };
    readonly WebhookProof: { readonly spec: WebhookProofData; readonly push: 'none' };
    readonly WriteRefusal: { readonly spec: WriteRefusalData; readonly push: 'none' };
  }
}

const common = { group: 'periplus.internal', versions: ['v1'], clusterScoped: true, push: 'none' } as const;
const whole = [{ name: 'spec', type: { message: 'Spec' } }] as const;

export const leadership = kubernetesKind<'Leadership', { readonly spec?: Partial<LeadershipData> }>({
  ...common,
  kind: 'Leadership',
  messages: { Object: whole, Spec: ['election', 'holder'].map(name => ({ name, type: 'string' as const })) },
  flatten: ({ spec }) => ({ election: '', holder: '', ...spec }),
});

export const writeRefusal = kubernetesKind<'WriteRefusal', { readonly spec?: Partial<WriteRefusalData> }>({
  ...common,
  kind: 'WriteRefusal',
  messages: {
    Object: whole,
    Spec: [
      { name: 'target', type: 'string' },
      { name: 'status', type: 'int32' },
      { name: 'reason', type: 'string' },
    ],
  },
  flatten: ({ spec }) => ({ target: '', status: 0, reason: '', ...spec }),
});

export const webhookProof = kubernetesKind<'WebhookProof', object>({
  ...common,
  kind: 'WebhookProof',
  messages: { Object: [] },
  flatten: () => ({}),
});
