// What the oracle predicts, a stock Envoy does: arbitrary meshes of the property tests, Envoy configured by Periplus
// over ADS with a client whose connections iptables sends to it, and a server that has every address. Needs an Envoy,
// root and Linux.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_ADDRESS } from '../property/mesh/predicted.ts';
import { httpQuestion, tcpQuestion } from '../property/mesh/questions.ts';
import { type Client, visibleServices } from '../property/mesh/services.ts';
import { anyWorld } from '../property/mesh/world.ts';
import { parameters, seed } from '../property/seed.ts';
import { besideSidecar } from './oracle/places.ts';
import { envoyFor, inquiries, isCaught, QUESTIONS, routesReversed, trying } from './oracle/trial.ts';

const CLIENT: Client = { namespace: 'prod', labels: { app: 'alpha', version: 'v1' } };
const WORLDS = 8;
const CANARY_WORLDS = 8;

const binary = await envoyFor('test/e2e/oracle.test.ts');

const inquiry = inquiries(anyWorld, world => {
  const services = visibleServices(world, CLIENT);
  return fc.oneof(
    { weight: 3, arbitrary: httpQuestion(services, CLIENT.namespace) },
    { weight: 2, arbitrary: tcpQuestion(services) },
  );
});

const node = {
  id: `sidecar~${CLIENT_ADDRESS}~client.prod~prod.svc.cluster.local`,
  cluster: 'client.prod',
  metadata: {
    NAMESPACE: CLIENT.namespace,
    CLUSTER_ID: 'Kubernetes',
    LABELS: CLIENT.labels,
    INSTANCE_IPS: CLIENT_ADDRESS,
    INTERCEPTION_MODE: 'REDIRECT',
  },
};

describe.runIf(binary !== undefined)(`the oracle and a real Envoy (PERIPLUS_SEED=${seed})`, () => {
  const tried = trying({ binary: binary ?? '', node, place: besideSidecar, arrives: 'outbound' });

  const kinds = new Set<string>();
  const worlds = fc.sample(inquiry, parameters(WORLDS));
  it.each(worlds.map((one, i) => [i, one] as const))('agree about world %i', async (_, one) => {
    const { different, tried: count, kinds: seen } = await tried(one);
    for (const kind of seen) kinds.add(kind);
    expect(different).toEqual([]);
    expect(count).toBeGreaterThan(QUESTIONS / 3);
  });

  it('census: cover every kind of answer', () => {
    expect([...kinds].sort()).toEqual(['answered', 'closed', 'forwarded']);
  });

  it('canary: differ if the oracle is given routes in another order', async () => {
    expect(await isCaught(inquiry, CANARY_WORLDS, one => tried(one, routesReversed))).toBe(true);
  });
});
