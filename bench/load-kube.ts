// The load through an API server (`npm run bench:load -- --kubeconfig new|FILE …`), and what each part of an endpoint
// change takes: the write, the watch up to the recorded fact, the first and the last receipt, the last proxy. `new`
// starts the etcd and the API server of the tests; a FILE (one cluster, a token) names a cluster that the bench may
// write to. With `--istiod BIN` istiod is measured on the same cluster, after Periplus.
//
// The parts come from the journal: facts and receipts carry the time of their recording, by the clock of the bench.

import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../src/core/base/json.ts';
import { openJournal } from '../src/journal/open.ts';
import { namespace, SYSTEM } from '../test/e2e/kube/mesh.ts';
import { serviceAccountToken } from '../test/e2e/kube/tokens.ts';
import { startControlPlane, type Which } from './kube-server.ts';
import { clusterFor, type Target } from './kube-target.ts';
import { policyOf } from './load-change.ts';
import { changeOf, coldOf, load, signingOf } from './load-tool.ts';
import type { Measured, Scenario } from './reference.ts';

export interface KubeOptions {
  readonly kubeconfig: string;
  readonly mesh: string;
  readonly xdsload: string;
  readonly proxies: readonly number[];
  readonly rounds: string;
  readonly istiod?: string;
  /** The secure port: each proxy signs in with a token of the API server and connects with its certificate. */
  readonly tls: boolean;
}

export interface KubeRow {
  readonly who: Which;
  readonly proxies: number;
  readonly scenario: Scenario;
  readonly measured: Measured;
  /** Milliseconds since the write was sent, medians of the rounds: Periplus, endpoint change. */
  readonly parts?: Parts;
}

interface Parts {
  readonly writeAnswered: number;
  readonly factRecorded: number;
  readonly firstReceipt: number;
  readonly lastReceipt: number;
}

/** When a round's object was sent to the API server and when it answered, by the mark that the object carries. */
interface Write {
  readonly mark: string;
  readonly sent: number;
  readonly answered: number;
}

/** Receipts after this belong to proxies that connect for the next phase. */
const LATE_MS = 1_500;
const EDS = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';

export async function measureKube(options: KubeOptions): Promise<readonly KubeRow[]> {
  const target = await clusterFor(options.kubeconfig);
  const rows: KubeRow[] = [];
  let tokens: Tokens | undefined;
  try {
    const objects = [...objectsIn(options.mesh), policyOf('base')];
    const isNamespace = ({ kind }: JsonObject): boolean => kind === 'Namespace';
    await target.client.putAll([namespace(SYSTEM), ...objects.filter(isNamespace)]);
    await target.client.putAll(objects.filter(object => !isNamespace(object)));
    const namespaces = objects.filter(isNamespace).map(({ metadata }) => String((metadata as JsonObject).name));
    tokens = options.tls ? await tokensFor(target, namespaces) : undefined;
    for (const who of ['periplus', ...(options.istiod === undefined ? [] : ['istiod'])] as const) {
      for (const proxies of options.proxies) {
        process.stderr.write(`${who}, ${proxies} proxies …\n`);
        rows.push(...(await measure(options, target, objects, { who: who as Which, proxies, tokens })));
      }
    }
    return rows;
  } finally {
    tokens?.remove();
    await target.close();
  }
}

function objectsIn(folder: string): readonly JsonObject[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.yaml'))
    .map(file => withoutAddress(JSON.parse(readFileSync(join(folder, file), 'utf8')) as JsonObject));
}

/** The API server gives a Service its address, of a range of its own. */
function withoutAddress(object: JsonObject): JsonObject {
  if (object.kind !== 'Service') return object;
  const { clusterIP: _, clusterIPs: __, ...spec } = object.spec as JsonObject;
  return { ...object, spec };
}

/** Files NAMESPACE.default with the tokens that agents have of a kubelet. */
async function tokensFor({ client }: Target, namespaces: readonly string[]): Promise<Tokens> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-tokens-'));
  const account = (of: string): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: of } },
  });
  await client.putAll(namespaces.map(account));
  for (const name of namespaces) {
    const token = await serviceAccountToken(client, name, 'default', { audiences: ['istio-ca'] });
    writeFileSync(join(folder, `${name}.default`), token, { mode: 0o600 });
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

interface Tokens {
  readonly folder: string;
  remove(): void;
}

interface Subject {
  readonly who: Which;
  readonly proxies: number;
  readonly tokens: Tokens | undefined;
}

async function measure(
  options: KubeOptions,
  target: Target,
  objects: readonly JsonObject[],
  { who, proxies, tokens }: Subject,
): Promise<readonly KubeRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-load-'));
  const started = { kubeconfig: target.kubeconfig, istiod: options.istiod, tokens: tokens?.folder };
  const server = await startControlPlane(who, folder, started);
  const slice = named(objects, 'EndpointSlice', 'svc-0-x');
  const service = named(objects, 'VirtualService', 'svc-0');
  const policy = named(objects, 'AuthorizationPolicy', 'readers');
  try {
    const loading = { xdsload: options.xdsload, rounds: options.rounds, reach: server.reach };
    const routes = await writing(target, round => [service, '"base"', `"bench-${round}-header"`]);
    const first = await load(loading, proxies, { marker: 'bench-%d-header', trigger: routes.trigger });
    await routes.close();
    const ends = await writing(target, round => [slice, '172.16.0.0', `172.31.${round}.77`]);
    const second = await load(loading, proxies, { marker: '172.31.%d.77', trigger: ends.trigger });
    await ends.close();
    const paths = await writing(target, round => [policy, '/base', `/bench-${round}-policy`]);
    const third = await load(loading, proxies, { marker: '/bench-%d-policy', trigger: paths.trigger });
    await paths.close();
    await target.client.putAll([slice, service, policy]);
    await server.stop();
    const signing = signingOf(first);
    const parts = who === 'periplus' ? await partsOf(join(folder, 'journal.db'), ends.writes) : undefined;
    return [
      ...(signing === undefined ? [] : [{ who, proxies, scenario: 'signing requests', measured: signing } as const]),
      { who, proxies, scenario: 'cold start', measured: coldOf(first) },
      { who, proxies, scenario: 'VirtualService change', measured: changeOf(first) },
      { who, proxies, scenario: 'endpoint change', measured: changeOf(second), ...(parts && { parts }) },
      { who, proxies, scenario: 'policy change', measured: changeOf(third) },
    ];
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function named(objects: readonly JsonObject[], kind: string, name: string): JsonObject {
  const found = objects.find(one => one.kind === kind && (one.metadata as JsonObject).name === name);
  if (found === undefined) throw new Error(`the mesh has no ${kind} ${name}`);
  return found;
}

type Replacement = (round: string) => readonly [object: JsonObject, from: string, to: string];

/** A hook that the load tool calls: one PATCH of everything but the metadata, as `kubectl patch` sends it. */
async function writing(target: Target, replacement: Replacement) {
  const writes: Write[] = [];
  const hook = createServer((request, response) => {
    void (async () => {
      const [object, from, to] = replacement(request.url?.slice(1) ?? '');
      const { metadata: _, ...rest } = JSON.parse(JSON.stringify(object).replaceAll(from, to)) as JsonObject;
      const sent = Date.now();
      await target.client.patch(object, rest);
      writes.push({ mark: to, sent, answered: Date.now() });
      response.end();
    })();
  }).listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const { port } = hook.address() as AddressInfo;
  return {
    writes,
    trigger: asking(port),
    close: async (): Promise<void> => {
      hook.close();
      hook.closeAllConnections();
    },
  };
}

/** By bash's own connection, which costs 2 ms: the start of curl is 10 ms of each change's time. */
function asking(port: number): string {
  const request = String.raw`GET /%d HTTP/1.0\r\n\r\n`;
  return `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; printf "${request}" >&3; read -r <&3'`;
}

/** Each write is found again by its mark in the fact, and the receipts by the position that they rest on. */
async function partsOf(path: string, writes: readonly Write[]): Promise<Parts> {
  const journal = await openJournal(path, { readonly: true });
  const rounds: { readonly write: Write; readonly seq: number; readonly at: number; readonly sent: number[] }[] = [];
  for await (const page of journal.read({ from: journal.base().seq + 1, to: journal.head().seq })) {
    for (const event of page) {
      if (event.kind === 'Update' && event.object.kind === 'EndpointSlice') {
        const write = writes.find(({ mark }) => JSON.stringify(event.object).includes(mark));
        if (write !== undefined) rounds.push({ write, seq: event.seq, at: event.time, sent: [] });
      }
      const last = rounds.at(-1);
      const isLate = last !== undefined && event.time - last.at > LATE_MS;
      if (event.kind !== 'Receipt' || event.typeUrl !== EDS || last === undefined || isLate) continue;
      if (event.stateSeq >= last.seq) last.sent.push(event.time);
    }
  }
  await journal.close();
  const median = (of: (round: (typeof rounds)[number]) => number): number =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN;
  return {
    writeAnswered: median(({ write }) => write.answered - write.sent),
    factRecorded: median(({ write, at }) => at - write.sent),
    firstReceipt: median(({ write, sent }) => Math.min(...sent) - write.sent),
    lastReceipt: median(({ write, sent }) => Math.max(...sent) - write.sent),
  };
}
