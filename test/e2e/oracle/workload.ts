// A workload with a certificate of the mesh behind a stock Envoy that Periplus configures over ADS, and callers of
// every private address and identity who ask it.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { State } from '../../../src/core/state.ts';
import type { Connection } from '../../../src/oracle/question.ts';
import { AUTHORIZER, HTTP_PORT, TCP_PORT, WORKLOAD } from '../../property/mesh/policy-world.ts';
import { judge } from '../envoy-judge.ts';
import { until } from '../kube/until.ts';
import { type MeshCertificates, meshCertificates } from './mesh-certificates.ts';
import { beforeWorkload, type Place } from './places.ts';

const SOURCE = 'file/Kubernetes';
const LIVE_MS_MAX = 60_000;
const LOGGED_MS_MAX = 60_000;
/** Of callers. */
const PORT_FIRST = 20_000;
const PORT_MAX = 60_000;
/** ADDRESS:PORT of the client, then who decided. Details have no spaces. */
const LOG_FORMAT = '%DOWNSTREAM_DIRECT_REMOTE_ADDRESS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS%\n';
const NODE: JsonObject = {
  id: `sidecar~${WORKLOAD.address}~alpha-1.prod~prod.svc.cluster.local`,
  cluster: 'alpha.prod',
  metadata: {
    NAMESPACE: WORKLOAD.namespace,
    SERVICE_ACCOUNT: 'alpha',
    CLUSTER_ID: 'Kubernetes',
    LABELS: WORKLOAD.labels,
    INSTANCE_IPS: WORKLOAD.address,
    INTERCEPTION_MODE: 'REDIRECT',
  },
};

export interface Behaviour {
  /** In the order of the connections. */
  readonly answers: readonly Answer[];
  /** Of the control plane, with the Envoy connected. */
  readonly state: State;
}

export interface Answer {
  /** `forwarded`, `answered STATUS`, `closed`, `no answer` */
  readonly seen: string;
  /** What the access log says of it. */
  readonly details: string;
}

interface Seen {
  readonly seen: string;
  readonly from: string;
}

export type Ask = (
  mesh: JsonObject,
  objects: readonly JsonObject[],
  asked: readonly Connection[],
) => Promise<Behaviour>;

/**
 * To be called inside of `describe`, whose tests share one place. What it returns fails the test if the Envoy refuses
 * anything.
 */
export function behindEnvoy(binary: string): Ask {
  let place: Place;
  let folder: string;
  let certificates: MeshCertificates;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-policies-'));
    certificates = await meshCertificates('spiffe://cluster.local/ns/prod/sa/alpha');
    place = await beforeWorkload(WORKLOAD.address, [HTTP_PORT, TCP_PORT]);
  });
  afterAll(async () => {
    await place?.end();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  let meshes = 0;
  let port = PORT_FIRST;
  return async (mesh, objects, asked) => {
    const log = join(folder, `access-${meshes++}.log`);
    let behaviour: Behaviour | undefined;
    const complaints = await judge({
      binary,
      node: NODE,
      protocol: 'delta',
      liveMsMax: LIVE_MS_MAX,
      keyOf: () => certificates.key,
      facts: [
        { source: 'runtime', kind: 'Engine', settings: {} },
        { source: SOURCE, kind: 'MeshConfig', value: { ...mesh, accessLogFile: log, accessLogFormat: LOG_FORMAT } },
        ...certificates.facts,
        ...objects.map(object => ({ source: SOURCE, kind: 'Add' as const, object })),
      ],
      inside: command => place.inside(command),
      whileLive: async state => {
        if (port + asked.length > PORT_MAX) port = PORT_FIRST;
        const all = await ask(place, join(folder, 'questions.json'), asked, certificates, port);
        port += all.length;
        const lines = await logged(log, all);
        const answers = all.slice(0, -1).map(one => ({ seen: one.seen, details: lines.get(one.from) ?? '' }));
        behaviour = { answers, state };
      },
    });
    expect(complaints).toEqual([]);
    return behaviour!;
  };
}

/** In the order of the connections; one more is asked last, so that its line in the log is the last, too. */
async function ask(
  place: Place,
  file: string,
  connections: readonly Connection[],
  certificates: MeshCertificates,
  firstPort: number,
): Promise<readonly Seen[]> {
  const questions = connections.map(({ source, destination, tls, http, authorizer }) => ({
    ...{ source: source?.address, destination, certificate: tls?.certificate, alpn: tls?.alpn, authorizer },
    request: http && { method: http.method, path: http.path, authority: http.authority, headers: http.headers },
  }));
  const names = new Set(questions.flatMap(({ certificate }) => certificate ?? []));
  const leaves: Record<string, string> = {};
  for (const name of names) leaves[name] = await certificates.leaf(name);
  const request = { method: 'GET', path: '/', authority: 'alpha', headers: {} };
  const last = { source: '10.1.99.9', destination: { address: WORKLOAD.address, port: HTTP_PORT }, request };
  const authorizer = { address: AUTHORIZER.address, http: AUTHORIZER.http.port, grpc: AUTHORIZER.grpc.port };
  const given = { questions, certificates: leaves, key: certificates.key, authorizer, last, firstPort };
  await writeFile(file, JSON.stringify(given));
  return JSON.parse(await place.ask(file)) as readonly Seen[];
}

/**
 * ADDRESS:PORT of clients → what the log says of their connection. Connections that fail the handshake have no line.
 */
async function logged(file: string, answers: readonly Seen[]): Promise<ReadonlyMap<string, string>> {
  const expected = answers.filter(({ seen }) => seen !== 'closed').map(({ from }) => from);
  let lines = new Map<string, string>();
  const isWhole = async (): Promise<boolean> => {
    const text = await readFile(file, 'utf8').catch(() => '');
    lines = new Map(text.split('\n').map(line => [line.split(' ')[0]!, line.split(' ').slice(1).join(' ')]));
    return expected.every(from => lines.has(from));
  };
  await until('the access log is whole', isWhole, LOGGED_MS_MAX);
  return lines;
}
