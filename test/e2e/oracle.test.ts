// What the oracle predicts, a stock Envoy does: arbitrary meshes of the property tests, Envoy configured by Periplus over ADS with a client whose
// connections iptables sends to it, and a server that has every address. Needs an Envoy, root and Linux.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { findEnvoy } from '../../src/demo/envoy.ts';
import { CLIENT_ADDRESS } from '../property/mesh/predicted.ts';
import { httpQuestion, tcpQuestion } from '../property/mesh/questions.ts';
import { type Client, visibleServices } from '../property/mesh/services.ts';
import { anyWorld, type World } from '../property/mesh/world.ts';
import { judge } from './envoy-judge.ts';
import { whyNoPods } from './interception/pods.ts';
import { type Asked, type Compared, compare, type Telling } from './oracle/comparison.ts';
import { besideSidecar, type Place } from './oracle/places.ts';
import { canRun } from './suite.ts';

const CLIENT: Client = { namespace: 'prod', labels: { app: 'alpha', version: 'v1' } };
const WORLDS = Number(process.env.PERIPLUS_RUNS ?? 8);
const QUESTIONS = 30;
const LIVE_MS_MAX = 30_000;
/** Of the canary, whose worlds are to have rules that matter. */
const FIXED_SEED = 7;
const given = process.env.PERIPLUS_SEED;
const seed = given === undefined ? Date.now() % 0x7fffffff : Number(given);

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const runs = canRun('test/e2e/oracle.test.ts', 'missing' in found ? found.missing : whyNoPods());
const binary = 'binary' in found ? found.binary : '';

interface Inquiry {
  readonly world: World;
  readonly questions: readonly Asked[];
}

const inquiry: fc.Arbitrary<Inquiry> = anyWorld.chain(world => {
  const services = visibleServices(world, CLIENT);
  const question: fc.Arbitrary<Asked> = fc.oneof(
    { weight: 3, arbitrary: httpQuestion(services, CLIENT.namespace) },
    { weight: 2, arbitrary: tcpQuestion(services) },
  );
  return fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS }).map(questions => ({ world, questions }));
});

const node: JsonObject = {
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

describe.runIf(runs)(`the oracle and a real Envoy (seed ${seed})`, () => {
  let place: Place;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-oracle-'));
    place = await besideSidecar();
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
        ...world.objects.map(object => ({ source, kind: 'Add' as const, object })),
      ],
      inside: command => place.inside(command),
      whileLive: async state => {
        compared = await compare({ place, folder, state, questions, arrives: 'outbound', telling });
      },
    });
    expect(complaints).toEqual([]);
    return compared!;
  };

  const kinds = new Set<string>();
  const worlds = fc.sample(inquiry, { numRuns: WORLDS, seed });
  it.each(worlds.map((one, i) => [i, one] as const))('agree about world %i', async (_, one) => {
    const { different, tried: count, kinds: seen } = await tried(one);
    for (const kind of seen) kinds.add(kind);
    expect(different).toEqual([]);
    expect(count).toBeGreaterThan(QUESTIONS / 3);
  });

  it('everything that can happen has happened', () => {
    expect([...kinds].sort()).toEqual(['answered', 'closed', 'forwarded']);
  });

  it('an oracle that is told of routes in another order is caught (canary)', async () => {
    const reversed: Telling = held => ({
      ...held,
      routes: held.routes.map(route => ({
        ...route,
        virtualHosts: (route.virtualHosts ?? []).map(host => ({ ...host, routes: [...(host.routes ?? [])].reverse() })),
      })),
    });
    let caught = 0;
    for (const one of fc.sample(inquiry, { numRuns: WORLDS, seed: FIXED_SEED })) {
      caught += (await tried(one, reversed)).different.length;
      if (caught > 0) break;
    }
    expect(caught).toBeGreaterThan(0);
  });
});
