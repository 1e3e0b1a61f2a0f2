// What the oracle predicts, a stock Envoy does: arbitrary meshes of the property tests, Envoy configured by Periplus over ADS with a client whose
// connections iptables sends to it, and a server that has every address. Where the prediction is one of several, what happened must be among them.
// Needs an Envoy, root and Linux.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import type { State } from '../../src/core/state.ts';
import { Tracker } from '../../src/core/track.ts';
import { findEnvoy } from '../../src/demo/envoy.ts';
import { explain } from '../../src/oracle/explain.ts';
import { oracleOf } from '../../src/oracle/oracle.ts';
import type { Outcome, Prediction } from '../../src/oracle/prediction.ts';
import type { HttpRequest, ProxyConfig } from '../../src/oracle/question.ts';
import { heldBy } from '../../src/runtime/held.ts';
import { CLIENT_ADDRESS } from '../property/mesh/predicted.ts';
import { httpQuestion, tcpQuestion } from '../property/mesh/questions.ts';
import { type Client, visibleServices } from '../property/mesh/services.ts';
import { anyWorld, targetPort, type World } from '../property/mesh/world.ts';
import { judge } from './envoy-judge.ts';
import { whyNoPods } from './interception/pods.ts';
import { canRun } from './suite.ts';

const HERE = join(import.meta.dirname, 'oracle');
const CLIENT: Client = { namespace: 'prod', labels: { app: 'alpha', version: 'v1' } };
const CLIENT_GID = 4_242;
const OUTBOUND = 15_001;
/** Whole ranges that are addresses of the namespace: pods, services, what is elsewhere. */
const RANGES = ['10.0.0.0/8', '240.0.0.0/8', '198.51.100.0/24', '203.0.113.0/24'];
const SERVICE_PORTS = [80, 443, 5432, 7070, 9000, 27_017, 8080];
const SERVER_PORTS = [...new Set([...SERVICE_PORTS, ...SERVICE_PORTS.map(targetPort), 15_432])];
const WORLDS = Number(process.env.PERIPLUS_RUNS ?? 8);
const QUESTIONS = 30;
/** Requests for each question with several possible answers. */
const REPEATED = 8;
const LIVE_MS_MAX = 30_000;
const ASKING_MS_MAX = 120_000;
/** Of the canary, whose worlds are to have rules that matter. */
const FIXED_SEED = 7;
const given = process.env.PERIPLUS_SEED;
const seed = given === undefined ? Date.now() % 0x7fffffff : Number(given);

interface Asked {
  readonly destination: { readonly address: string; readonly port: number };
  readonly sni?: string;
  readonly request?: HttpRequest;
}

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const runs = canRun('test/e2e/oracle.test.ts', 'missing' in found ? found.missing : whyNoPods());
const binary = 'binary' in found ? found.binary : '';

/** A network namespace in which every address answers, and the client's connections go to the sidecar. */
class Everywhere {
  readonly #holder: ChildProcess;
  #server: ChildProcess | undefined;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async make(): Promise<Everywhere> {
    const holder = spawn('unshare', ['--net', 'sh', '-ec', 'ip link set lo up; echo made; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    const made = new Everywhere(holder);
    const rule = `-t nat -A OUTPUT -p tcp -m owner --gid-owner ${CLIENT_GID} -j REDIRECT --to-ports ${OUTBOUND}`;
    await made.run('sh', '-ec', RANGES.map(range => `ip route add local ${range} dev lo`).join('; '));
    await made.run(
      'sh',
      '-c',
      ['iptables', 'iptables-nft', 'iptables-legacy'].map(tool => `${tool} ${rule}`).join(' || '),
    );
    const [command, args] = made.inside([process.execPath, join(HERE, 'server.mjs'), ...SERVER_PORTS.map(String)]);
    const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    made.#server = server;
    await once(server.stdout, 'data');
    return made;
  }

  inside(command: readonly string[], group?: number): readonly [string, readonly string[]] {
    const gid = group === undefined ? [] : ['--setgid', String(group)];
    return ['nsenter', [`--net=/proc/${this.#holder.pid}/ns/net`, ...gid, '--', ...command]];
  }

  async run(...command: readonly string[]): Promise<string> {
    return this.#run(command, undefined);
  }

  runAsClient(...command: readonly string[]): Promise<string> {
    return this.#run(command, CLIENT_GID);
  }

  async #run(command: readonly string[], group: number | undefined): Promise<string> {
    const [program, args] = this.inside(command, group);
    return (await promisify(execFile)(program, [...args], { timeout: ASKING_MS_MAX, maxBuffer: 1 << 24 })).stdout;
  }

  async end(): Promise<void> {
    for (const child of [this.#server, this.#holder]) {
      if (child === undefined || child.exitCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }
}

/** As client.mjs says it. Who proxies bytes leaves a request as it was. */
function text(outcome: Outcome, asked: HttpRequest | undefined): string {
  switch (outcome.kind) {
    case 'forwarded': {
      const { address, port } = outcome.endpoint;
      const request = outcome.request ?? asked;
      return `forwarded ${address}:${port}${request === undefined ? '' : ` ${request.authority} ${request.path}`}`;
    }
    case 'answered':
      return `answered ${outcome.status}${outcome.location === undefined ? '' : ` ${outcome.location}`}`;
    default:
      return outcome.kind;
  }
}

/** Names need a DNS server, long delays need patience; neither is here. */
function canBeTried({ branches }: Prediction): boolean {
  return branches.every(({ steps, outcome }) => {
    if (steps.some(({ stage, why }) => stage === 'http filter' && why === 'delays')) return false;
    if (outcome.kind === 'unknown' || outcome.kind === 'stuck') return false;
    if (outcome.kind !== 'forwarded') return true;
    return /^[\d.]+$/.test(outcome.endpoint.address);
  });
}

interface Compared {
  readonly tried: number;
  readonly kinds: ReadonlySet<string>;
  readonly different: readonly string[];
}

/** What the oracle is told of the configuration. */
type Telling = (config: ProxyConfig) => ProxyConfig;

async function compare(
  place: Everywhere,
  folder: string,
  state: State,
  questions: readonly Asked[],
  telling: Telling,
): Promise<Compared> {
  const proxy = [...state.proxies.values()][0]!;
  const oracle = oracleOf(telling(heldBy(new Tracker(), state, proxy)));
  const tried = questions
    .map(question => {
      const { destination, sni, request } = question;
      const tls = sni === undefined ? {} : { tls: { sni } };
      const prediction = oracle.predict({ arrives: 'outbound', destination, http: request, ...tls });
      return { question, prediction, times: prediction.branches.length > 1 ? REPEATED : 1 };
    })
    .filter(({ prediction }) => canBeTried(prediction));
  const file = join(folder, 'questions.json');
  await writeFile(file, JSON.stringify(tried.map(({ question, times }) => ({ ...question, times }))));
  const answers = JSON.parse(
    await place.runAsClient(process.execPath, join(HERE, 'client.mjs'), file),
  ) as readonly (readonly string[])[];
  const kinds = new Set<string>();
  const different: string[] = [];
  tried.forEach(({ question, prediction }, i) => {
    const expected = new Set(prediction.branches.map(({ outcome }) => text(outcome, question.request)));
    const seen = answers[i] ?? [];
    for (const one of seen) kinds.add(one.split(' ')[0]!);
    const odd = seen.filter(one => !expected.has(one));
    if (odd.length > 0) different.push(`${JSON.stringify(question)}\nEnvoy: ${odd.join('; ')}\n${explain(prediction)}`);
  });
  return { tried: tried.length, kinds, different };
}

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
  let place: Everywhere;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-oracle-'));
    place = await Everywhere.make();
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
        compared = await compare(place, folder, state, questions, telling);
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
