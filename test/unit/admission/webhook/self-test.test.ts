// When the validating webhook is tried, how often, and what follows from it.

import { describe, expect, it } from 'vitest';
import type { Sink } from '../../../../src/adapters/adapter.ts';
import { SelfTest } from '../../../../src/admission/webhook/self-test.ts';
import { allWishes } from '../../../../src/admission/wishes/table.ts';
import type { Fact, RawObject } from '../../../../src/core/event.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { stateWith } from '../inject/world.ts';

const validator = (caBundle: string, failurePolicy = 'Ignore', revision = 'default'): RawObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'v', labels: { 'istio.io/rev': revision } },
  webhooks: [{ name: 'rev.validation.istio.io', failurePolicy, clientConfig: { caBundle } }],
});
const anchors: RawObject = {
  apiVersion: 'periplus.internal/v1',
  kind: 'TrustAnchors',
  metadata: { name: 'istio-ca' },
  spec: { roots: 'ROOTS' },
};
const BUNDLE = 'Uk9PVFM=';

async function tried(object: RawObject, answers: readonly string[]) {
  const facts: Fact[] = [];
  const asked: string[] = [];
  const waits: number[] = [];
  const timers: (() => void)[] = [];
  const test = new SelfTest({
    cluster: 'Kubernetes',
    namespace: 'istio-system',
    revision: 'default',
    call: async (_, path) => {
      asked.push(path);
      return { status: 400, body: { message: answers[asked.length - 1] ?? '' } };
    },
    after: (ms, run) => {
      waits.push(ms);
      timers.push(run);
      return { cancel: () => undefined };
    },
    log: () => undefined,
  });
  const sink = {
    relistKinds: async () => undefined,
    submit: async (batch: readonly Fact[]) => void facts.push(...batch),
  };
  await test.start(sink as unknown as Sink);
  test.onState(stateWith({ objects: [object], revision: 'default' }));
  for (let i = 0; i < 5; i++) {
    await new Promise(resolve => setImmediate(resolve));
    timers.shift()?.();
  }
  await test.stop();
  return { facts, asked, waits, troubles: test.status().troubles };
}

describe('The self-test of the validating webhook', () => {
  it('tries a dry run until it is refused, ever less often, and then says so once', async () => {
    const { facts, asked, waits, troubles } = await tried(validator(BUNDLE), [
      'timeout',
      '',
      'admission webhook "x" denied the request: y',
    ]);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe('/apis/networking.istio.io/v1/namespaces/istio-system/gateways?dryRun=All');
    expect(waits).toEqual([100, 200]);
    expect(facts).toMatchObject([{ kind: 'Add', object: { kind: 'WebhookProof' } }]);
    expect(troubles).toEqual([]);
  });

  it.each([
    ['has no roots yet', validator('')],
    ['fails closed already', validator(BUNDLE, 'Fail')],
    ['is of another revision', validator(BUNDLE, 'Ignore', 'canary')],
  ])('is not made where the webhook %s', async (_, object) => {
    expect((await tried(object, [])).asked).toEqual([]);
  });

  it('makes the webhook fail closed', () => {
    const proof: RawObject = {
      apiVersion: 'periplus.internal/v1',
      kind: 'WebhookProof',
      metadata: { name: 'validation' },
    };
    const policy = (more: readonly RawObject[]): unknown => {
      const state = stateWith({ objects: [anchors, validator(BUNDLE), ...more], revision: 'default' });
      const { wishes } = new Tracker().get(state, undefined, allWishes, '');
      return wishes.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')?.fields?.webhooks;
    };
    expect(policy([])).toEqual([{ name: 'rev.validation.istio.io', clientConfig: { caBundle: BUNDLE } }]);
    expect(policy([proof])).toEqual([
      { name: 'rev.validation.istio.io', clientConfig: { caBundle: BUNDLE }, failurePolicy: 'Fail' },
    ]);
  });
});
