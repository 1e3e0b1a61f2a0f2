// The roots that the API server verifies the webhooks with: in every webhook configuration of this revision, in the
// entries that call this control plane. Validation fails closed once it is proved to be reached (self-test.ts). Nothing
// else of those objects is owned; they are installed by a chart.
//
// By server-side apply of these fields. If the object was deleted meanwhile, the API server refuses it as incomplete,
// so that nothing is created.
// Source: Istio pkg/webhooks/webhookpatch.go, pkg/webhooks/validation/controller/controller.go.

import { base64OfText } from '../../core/base/base64.ts';
import type { Obj } from '../../core/model/object.ts';
import type { Query, Reader } from '../../core/query/reader.ts';
import type { State } from '../../core/state.ts';
import { ledClusters } from '../../core/wishes/led-clusters.ts';
import { publishedRoots } from '../../core/wishes/published-roots.ts';
import type { WishFeature } from '../../core/wishes/table.ts';
import { MANAGER, type Wish } from '../../core/wishes/wish.ts';

const REVISION_LABEL = 'istio.io/rev';
const INJECTOR = 'sidecar-injector.istio.io';
const KINDS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const;
/** Their values count only as empty or not: objects are found by label. */
const NAME_VARIABLES = {
  MutatingWebhookConfiguration: 'INJECTION_WEBHOOK_CONFIG_NAME',
  ValidatingWebhookConfiguration: 'VALIDATION_WEBHOOK_CONFIG_NAME',
} as const;

const query: Query<'', readonly Wish[]> = {
  name: 'wishes-ca-bundles',
  run: reader => {
    const roots = publishedRoots(reader);
    if (roots === undefined) return [];
    const caBundle = base64OfText(roots.pem);
    const isProved = reader.object('WebhookProof', `${reader.setting('clusterId')}/${VALIDATION_PROOF}`) !== undefined;
    const env = reader.setting('env');
    // An empty name, as of charts whose operator manages the webhooks: those are not written.
    const kinds = KINDS.filter(kind => env[NAME_VARIABLES[kind]] !== '');
    const own = kinds.flatMap(kind => configurationsOf(reader, kind, reader.setting('clusterId')));
    // Of a remote cluster the injectors alone call this control plane.
    const [, ...remote] = reader.get(ledClusters, '');
    const injectors = kinds
      .filter(kind => kind === 'MutatingWebhookConfiguration')
      .flatMap(kind => remote.flatMap(cluster => configurationsOf(reader, kind, cluster)));
    return [...own, ...injectors].flatMap(found => wishFor(found, caBundle, isProved));
  },
};

export const caBundles: WishFeature = {
  query,
  observes: KINDS.map(kind => ({ kind, parts: ['webhooks'] })),
};

/** The name of the WebhookProof of the validating webhook. */
export const VALIDATION_PROOF = 'validation';

/** A validating webhook of this revision has its roots, and fails open. */
export function waitsForProof({ objects, settings }: Pick<State, 'objects' | 'settings'>): boolean {
  const all = [...objects.ValidatingWebhookConfiguration.values()] as readonly Configuration[];
  if (settings.env.VALIDATION_WEBHOOK_CONFIG_NAME === '') return false;
  return all.some(
    ({ labels, spec }) =>
      labels[REVISION_LABEL] === settings.revision &&
      spec.webhooks.some(({ caBundle, failurePolicy }) => caBundle !== '' && failurePolicy === 'Ignore'),
  );
}

type Configuration = Obj<(typeof KINDS)[number]>;

/** Those of other revisions, and those without a revision, are others'. */
function configurationsOf(reader: Reader, kind: (typeof KINDS)[number], cluster: string): readonly Configuration[] {
  const revision = reader.setting('revision');
  const all: readonly Configuration[] = reader.objects(kind, `${cluster}/`);
  return all.filter(({ labels }) => labels[REVISION_LABEL] !== undefined && labels[REVISION_LABEL] === revision);
}

function wishFor({ kind, cluster, name, spec }: Configuration, caBundle: string, isProved: boolean): readonly Wish[] {
  const ours = spec.webhooks.filter(
    webhook => kind === 'ValidatingWebhookConfiguration' || webhook.name.endsWith(INJECTOR),
  );
  if (ours.length === 0) return [];
  const closed = kind === 'ValidatingWebhookConfiguration' && isProved ? { failurePolicy: 'Fail' } : {};
  return [
    {
      cluster,
      kind,
      namespace: '',
      name,
      subresource: '',
      manager: MANAGER,
      fields: {
        webhooks: ours.map(webhook => ({ name: webhook.name, clientConfig: { caBundle }, ...closed })),
      },
      verb: 'apply',
      gate: undefined,
      listKeys: { webhooks: 'name' },
    },
  ];
}
