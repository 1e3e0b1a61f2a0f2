// What the oracle predicts for a gateway, a stock Envoy does: arbitrary meshes with gateways of the property tests, Envoy configured by Periplus
// over ADS as a router, a client outside of it that speaks HTTP, bytes and TLS, and a server that has every address. Needs an Envoy, root and Linux.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { findEnvoy } from '../../src/demo/envoy.ts';
import type { GatewayQuestion } from '../property/mesh/gateway-model.ts';
import { anyGatewayWorld } from '../property/mesh/gateway-world.ts';
import { CLIENT_ADDRESS } from '../property/mesh/predicted.ts';
import { gatewayQuestion } from '../property/mesh/questions.ts';
import { listIn, objectIn, specOf } from '../property/mesh/read.ts';
import type { World } from '../property/mesh/world.ts';
import { makeCertificates } from './certificates.ts';
import { judge } from './envoy-judge.ts';
import { whyNoPods } from './interception/pods.ts';
import { type Compared, compare, type Telling } from './oracle/comparison.ts';
import { atGateway, type Place } from './oracle/places.ts';
import { canRun } from './suite.ts';

const NAMESPACE = 'istio-system';
const WORLDS = Number(process.env.PERIPLUS_RUNS ?? 20);
const QUESTIONS = 30;
const LIVE_MS_MAX = 30_000;
/** Of the canaries, whose worlds are to have rules that matter. */
const FIXED_SEED = 7;
const CANARY_WORLDS = 60;
const given = process.env.PERIPLUS_SEED;
const seed = given === undefined ? Date.now() % 0x7fffffff : Number(given);

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const runs = canRun('test/e2e/oracle-gateway.test.ts', 'missing' in found ? found.missing : whyNoPods());
const binary = 'binary' in found ? found.binary : '';

interface Inquiry {
  readonly world: World;
  readonly questions: readonly GatewayQuestion[];
}

const inquiry: fc.Arbitrary<Inquiry> = anyGatewayWorld.chain(world => {
  const servers = world.objects.flatMap(one => (one.kind === 'Gateway' ? listIn(specOf(one).servers) : []));
  const question = gatewayQuestion(servers.map(server => Number(objectIn(server.port).number)));
  return fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS }).map(questions => ({ world, questions }));
});

const node: JsonObject = {
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
const secret: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'cert', namespace: NAMESPACE },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) },
};

describe.runIf(runs)(`the oracle and a real Envoy as a gateway (seed ${seed})`, () => {
  let place: Place;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-oracle-'));
    place = await atGateway(CLIENT_ADDRESS);
  });
  afterAll(async () => {
    await place?.end();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const tried = async ({ world, questions }: Inquiry, telling: Telling = held => held): Promise<Compared> => {
    const source = 'file/Kubernetes';
    let compared: Compared | undefined;
    const complaints = await judge({
      binary,
      node,
      protocol: 'delta',
      liveMsMax: LIVE_MS_MAX,
      facts: [
        { source: 'runtime', kind: 'Engine', settings: {} },
        { source, kind: 'MeshConfig', value: world.mesh },
        ...[secret, ...world.objects].map(object => ({ source, kind: 'Add' as const, object })),
      ],
      inside: command => place.inside(command),
      whileLive: async state => {
        compared = await compare({ place, folder, state, questions, arrives: 'direct', telling });
      },
    });
    expect(complaints).toEqual([]);
    return compared!;
  };

  const kinds = new Set<string>();
  let count = 0;
  const worlds = fc.sample(inquiry, { numRuns: WORLDS, seed });
  it.each(worlds.map((one, i) => [i, one] as const))('agree about world %i', async (_, one) => {
    const { different, tried: asked, kinds: seen } = await tried(one);
    for (const kind of seen) kinds.add(kind);
    count += asked;
    expect(different).toEqual([]);
  });

  it('everything that can happen has happened, to most of the questions', () => {
    expect([...kinds].sort()).toEqual(['answered', 'closed', 'forwarded']);
    expect(count).toBeGreaterThan((WORLDS * QUESTIONS) / 3);
  });

  const mutations: Readonly<Record<string, Telling>> = {
    'of routes in another order': held => ({
      ...held,
      routes: held.routes.map(route => ({
        ...route,
        virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, routes: [...(host.routes ?? [])].reverse() })),
      })),
    }),
    'of no server names': held => ({
      ...held,
      listeners: held.listeners.map(listener => ({
        ...listener,
        filterChains: (listener.filterChains ?? []).map(chain => ({ ...chain, filterChainMatch: undefined })),
      })),
    }),
  };
  it.each(Object.keys(mutations))('an oracle that is told %s is caught (canary)', async name => {
    let caught = 0;
    for (const one of fc.sample(inquiry, { numRuns: CANARY_WORLDS, seed: FIXED_SEED })) {
      caught += (await tried(one, mutations[name]!)).different.length;
      if (caught > 0) break;
    }
    expect(caught).toBeGreaterThan(0);
  });
});
