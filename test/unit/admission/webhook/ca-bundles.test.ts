// Which webhook configurations get the roots, and that an applied wish is at rest.

import { describe, expect, it } from 'vitest';
import { allWishes } from '../../../../src/admission/wishes/table.ts';
import type { RawObject } from '../../../../src/core/event.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { stateWith } from '../inject/world.ts';

const anchors: RawObject = {
  apiVersion: 'periplus.internal/v1',
  kind: 'TrustAnchors',
  metadata: { name: 'istio-ca' },
  spec: { roots: 'ROOTS' },
};
const configuration = (kind: string, name: string, revision: string | undefined, webhook: string): RawObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name, uid: `uid-${name}`, labels: revision === undefined ? {} : { 'istio.io/rev': revision } },
  webhooks: [{ name: webhook, clientConfig: {} }],
});
const MUTATING = 'MutatingWebhookConfiguration';
const objects = [
  anchors,
  configuration(MUTATING, 'ours', 'default', 'rev.namespace.sidecar-injector.istio.io'),
  configuration(MUTATING, 'other', 'canary', 'rev.namespace.sidecar-injector.istio.io'),
  configuration(MUTATING, 'foreign', 'default', 'webhook.example.com'),
  configuration(MUTATING, 'unlabelled', undefined, 'sidecar-injector.istio.io'),
  configuration('ValidatingWebhookConfiguration', 'validator', 'default', 'rev.validation.istio.io'),
];

function wishes(revision: string, env: Record<string, string> = {}): readonly Wish[] {
  const table = new Tracker().get(stateWith({ objects, revision, env }), undefined, allWishes, '');
  return table.wishes.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
}

describe('The roots of webhooks', () => {
  it('are wished in configurations of the own revision, in the entries that call us', () => {
    expect(wishes('default').map(({ name }) => name)).toEqual(['ours', 'validator']);
    expect(wishes('canary').map(({ name }) => name)).toEqual(['other']);
    expect(wishes('')).toEqual([]);
  });

  it('are not wished where the name of the webhook is empty: an operator manages it', () => {
    expect(wishes('default', { INJECTION_WEBHOOK_CONFIG_NAME: '' }).map(({ name }) => name)).toEqual(['validator']);
    expect(wishes('default', { VALIDATION_WEBHOOK_CONFIG_NAME: '' }).map(({ name }) => name)).toEqual(['ours']);
  });

  it('are the only field that is owned', () => {
    const [wish] = wishes('default');
    expect(wish?.fields).toEqual({
      webhooks: [{ name: 'rev.namespace.sidecar-injector.istio.io', clientConfig: { caBundle: 'Uk9PVFM=' } }],
    });
  });

  it('are at rest once they are there', () => {
    const [wish] = wishes('default');
    const live = {
      metadata: { uid: 'uid-ours' },
      webhooks: [
        {
          name: 'rev.namespace.sidecar-injector.istio.io',
          failurePolicy: 'Fail',
          clientConfig: { caBundle: 'Uk9PVFM=', service: {} },
        },
      ],
    };
    const old = {
      ...live,
      webhooks: [{ name: 'rev.namespace.sidecar-injector.istio.io', clientConfig: { caBundle: 'x' } }],
    };
    const apply = planOf(wish!, old, 'admissionregistration.k8s.io/v1', MUTATING);
    const owner = {
      manager: 'pilot-discovery',
      operation: 'Apply',
      fieldsV1: {
        'f:webhooks': {
          'k:{"name":"rev.namespace.sidecar-injector.istio.io"}': {
            '.': {},
            'f:name': {},
            'f:clientConfig': { 'f:caBundle': {} },
          },
        },
      },
    };
    expect(apply.kind).toBe('apply');
    const applied = { ...live, metadata: { uid: 'uid-ours', managedFields: [owner] } };
    expect(planOf(wish!, applied, 'admissionregistration.k8s.io/v1', MUTATING)).toEqual({
      kind: 'none',
      why: 'fulfilled',
    });
  });
});
