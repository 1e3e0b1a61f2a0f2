// Webhook configurations. Their labels give the revision of a tag (Istio pkg/revisions/tag_watcher.go). Of the
// webhooks, only the fields that a control plane keeps up to date in its own ones are read: the CA bundle and the
// failure policy.

import type { Obj } from '../../model/object.ts';
import { kubernetesKind } from './kubernetes-kind.ts';

export const REVISION_TAG_LABEL = 'istio.io/tag';
/** The webhook configuration whose label istio.io/rev is the default revision. */
export const DEFAULT_VALIDATOR = 'istiod-default-validator';

interface Webhook {
  readonly name: string;
  /** Padded standard base64; empty if none. */
  readonly caBundle: string;
  /** Fail or Ignore. */
  readonly failurePolicy: string;
}
export interface WebhookConfigurationData {
  readonly webhooks: readonly Webhook[];
}
interface Decoded {
  readonly webhooks?: readonly {
    readonly name?: string;
    readonly failurePolicy?: string;
    readonly clientConfig?: { readonly caBundle?: string };
  }[];
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly MutatingWebhookConfiguration: { readonly spec: WebhookConfigurationData; readonly push: 'own' };
    readonly ValidatingWebhookConfiguration: { readonly spec: WebhookConfigurationData; readonly push: 'own' };
  }
}

const webhookConfiguration = {
  group: 'admissionregistration.k8s.io',
  versions: ['v1'],
  push: 'own',
  clusterScoped: true,
  trim: true,
  messages: {
    Object: [{ name: 'webhooks', type: { message: 'Webhook' }, repeated: true }],
    Webhook: [
      { name: 'name', type: 'string' },
      { name: 'failurePolicy', type: 'string' },
      { name: 'clientConfig', type: { message: 'ClientConfig' } },
    ],
    ClientConfig: [{ name: 'caBundle', type: 'bytes' }],
  },
  flatten: ({ webhooks = [] }: Decoded): WebhookConfigurationData => ({
    webhooks: webhooks.map(({ name = '', failurePolicy = 'Fail', clientConfig }) => ({
      name,
      failurePolicy,
      caBundle: clientConfig?.caBundle ?? '',
    })),
  }),
} as const;

export const mutatingWebhookConfiguration = kubernetesKind<'MutatingWebhookConfiguration', Decoded>({
  ...webhookConfiguration,
  kind: 'MutatingWebhookConfiguration',
});
export const validatingWebhookConfiguration = kubernetesKind<'ValidatingWebhookConfiguration', Decoded>({
  ...webhookConfiguration,
  kind: 'ValidatingWebhookConfiguration',
});

/** The object has a say in what revision tags mean. */
export function speaksOfTags(obj: Obj): boolean {
  if (obj.kind === 'ValidatingWebhookConfiguration') return obj.name === DEFAULT_VALIDATOR;
  return obj.labels[REVISION_TAG_LABEL] !== undefined;
}
