// What the oracle predicts for a gateway, a stock Envoy does: arbitrary meshes with gateways of the property tests,
// Envoy configured by Periplus over ADS as a router, a client outside of it that speaks HTTP, bytes and TLS, and a
// server that has every address. Needs an Envoy, root and Linux.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyGatewayWorld } from '../property/mesh/gateway-world.ts';
import { CLIENT_ADDRESS } from '../property/mesh/predicted.ts';
import { gatewayQuestion } from '../property/mesh/questions.ts';
import { listIn, objectIn, specOf } from '../property/mesh/read.ts';
import { parameters, seed } from '../property/seed.ts';
import { makeCertificates } from './certificates.ts';
import type { Telling } from './oracle/comparison.ts';
import { atGateway } from './oracle/places.ts';
import { envoyFor, inquiries, isCaught, QUESTIONS, routesReversed, trying } from './oracle/trial.ts';

const NAMESPACE = 'istio-system';
const WORLDS = 20;
const CANARY_WORLDS = 60;

const binary = await envoyFor('test/e2e/oracle-gateway.test.ts');

const inquiry = inquiries(anyGatewayWorld, world => {
  const servers = world.objects.flatMap(one => (one.kind === 'Gateway' ? listIn(specOf(one).servers) : []));
  return gatewayQuestion(servers.map(server => Number(objectIn(server.port).number)));
});

const node = {
  id: `router~${CLIENT_ADDRESS}~gate.${NAMESPACE}~${NAMESPACE}.svc.cluster.local`,
  cluster: `gate.${NAMESPACE}`,
  metadata: {
    NAMESPACE,
    CLUSTER_ID: 'Kubernetes',
    SERVICE_ACCOUNT: 'gate',
    LABELS: { istio: 'ingressgateway' },
    INSTANCE_IPS: CLIENT_ADDRESS,
  },
};

const { certificate, privateKey } = makeCertificates('gate');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'cert', namespace: NAMESPACE },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) },
};

describe.runIf(binary !== undefined)(`the oracle and a real Envoy as a gateway (PERIPLUS_SEED=${seed})`, () => {
  const tried = trying({
    binary: binary ?? '',
    node,
    place: () => atGateway(CLIENT_ADDRESS),
    arrives: 'direct',
    objects: [secret],
  });

  const kinds = new Set<string>();
  let count = 0;
  const worlds = fc.sample(inquiry, parameters(WORLDS));
  it.each(worlds.map((one, i) => [i, one] as const))('agree about world %i', async (_, one) => {
    const { different, tried: asked, kinds: seen } = await tried(one);
    for (const kind of seen) kinds.add(kind);
    count += asked;
    expect(different).toEqual([]);
  });

  it('census: cover every kind of answer, and agree on most questions', () => {
    expect([...kinds].sort()).toEqual(['answered', 'closed', 'forwarded']);
    expect(count).toBeGreaterThan((worlds.length * QUESTIONS) / 3);
  });

  const mutations: Readonly<Record<string, Telling>> = {
    'of routes in another order': routesReversed,
    'of no server names': held => ({
      ...held,
      listeners: held.listeners.map(listener => ({
        ...listener,
        filterChains: (listener.filterChains ?? []).map(chain => ({ ...chain, filterChainMatch: undefined })),
      })),
    }),
  };
  it.each(Object.keys(mutations))('canary: differ if the oracle is given %s', async name => {
    expect(await isCaught(inquiry, CANARY_WORLDS, one => tried(one, mutations[name]!))).toBe(true);
  });
});
