// `npm run bench:floor -- --mesh DIR`: what Node itself needs. A bare grpc-js server without sessions, schedule, receipts, journal and state sends
// what Periplus would send (made at the first request, one copy a namespace). Drive it with the load tool of bench/load.ts, with
// `kill -USR2 PID` as its trigger: every proxy is sent its routes again with another header, or with `--again listeners` its listeners, with
// another path in a policy. What Periplus needs beyond this is ours; this is the price of the runtime. `--copied`: responses go through grpc-js's
// own API, which copies each of them for each proxy.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Command, Option } from 'commander';
import { parseFile } from '../src/adapters/file/parse.ts';
import type { JsonObject } from '../src/core/base/json.ts';
import type { Fact, Unrecorded } from '../src/core/event.ts';
import { parseNode } from '../src/core/model/proxy.ts';
import type { State } from '../src/core/state.ts';
import { resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { adsService, type Call } from '../src/xds/grpc/server.ts';
import { sendPieces } from '../src/xds/grpc/shared-write.ts';
import { decodeDeltaDiscoveryRequest, deltaDiscoveryResponse } from '../src/xds/serve/discovery.ts';
import { foldAll, numbered } from './folding.ts';

const CONNECTION = 'floor';
/** What the trigger sends again: the type, and where the number of the round stands in it. */
const AGAIN = {
  routes: { type: 'RouteConfiguration', marker: /bench-\d+-header/g, of: (round: number) => `bench-${round}-header` },
  listeners: { type: 'Listener', marker: /bench-\d+-policy/g, of: (round: number) => `bench-${round}-policy` },
} as const;

/** Everything of the folder, folded. */
function stateOf(folder: string): State {
  const facts: Unrecorded[] = readdirSync(folder)
    .sort()
    .flatMap(file => parseFile(file, readFileSync(join(folder, file))).objects)
    .map(({ object }) => ({ source: 'file/Kubernetes', kind: 'Add', object }));
  return foldAll(numbered(facts));
}

interface Answer {
  readonly bytes: Buffer;
  /** Of a response with those resources alone that have the marker; undefined: none has. */
  readonly changing: Buffer | undefined;
}

/** What a proxy of the node's namespace is sent for a request of that type and these names. */
class Responses {
  readonly #engine = new Engine(resourceSources);
  readonly #made = new Map<string, Answer>();
  readonly #marker: RegExp;
  #state: State;

  constructor(state: State, marker: RegExp) {
    this.#state = state;
    this.#marker = marker;
  }

  of(node: JsonObject, namespace: string, typeUrl: string, names: readonly string[]): Answer {
    const key = `${namespace} ${typeUrl}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const fact: Fact = { kind: 'ProxyConnected', connection: CONNECTION, protocol: 'delta', node };
    this.#state = foldAll(numbered([{ source: 'xds', ...fact }], this.#state.seq), this.#state);
    const proxy = this.#state.proxies.get(CONNECTION)!;
    const subscription = { wildcard: names.length === 0, names: [...names].sort() };
    const set = this.#engine.resourcesFor(this.#state, proxy, typeUrl, subscription)!;
    const frames = [...set.resources.values()].map(({ deltaFrame }) => Buffer.concat(deltaFrame));
    const changing = frames.filter(frame => frame.toString('latin1').search(this.#marker) >= 0);
    const response = (of: readonly Buffer[]): Buffer =>
      deltaDiscoveryResponse({ systemVersionInfo: set.digest, typeUrl, nonce: 'n', frames: of, removed: [] });
    const made = { bytes: response(frames), changing: changing.length === 0 ? undefined : response(changing) };
    this.#made.set(key, made);
    return made;
  }
}

interface Client {
  readonly call: Call;
  node: JsonObject | undefined;
  namespace: string;
  changing: Buffer | undefined;
}

function main(options: {
  readonly mesh: string;
  readonly port: string;
  readonly copied: boolean;
  readonly again: string;
}): void {
  const again = AGAIN[options.again as keyof typeof AGAIN];
  const responses = new Responses(stateOf(options.mesh), again.marker);
  const clients = new Set<Client>();
  const send = (call: Call, bytes: Buffer): void => {
    if (options.copied) call.write(bytes);
    else sendPieces(call, [bytes], () => undefined);
  };
  const accept = (call: Call): void => {
    const client: Client = { call, node: undefined, namespace: '', changing: undefined };
    clients.add(client);
    call.on('error', () => clients.delete(client));
    call.on('cancelled', () => clients.delete(client));
    call.on('data', (bytes: Buffer) => {
      const { node, typeUrl, resourceNamesSubscribe, responseNonce } = decodeDeltaDiscoveryRequest(bytes);
      if (node !== undefined) {
        const facets = parseNode(node);
        client.node = node;
        client.namespace = 'error' in facets ? '' : facets.namespace;
      }
      if (responseNonce !== '' || client.node === undefined) return;
      const answer = responses.of(client.node, client.namespace, typeUrl, resourceNamesSubscribe);
      if (typeUrl.endsWith(`.${again.type}`)) client.changing = answer.changing;
      send(call, answer.bytes);
    });
  };
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.enable_channelz': 0 });
  server.addService(adsService, { deltaAggregatedResources: accept });
  let round = 0;
  // The load tool's trigger.
  process.on('SIGUSR2', () => {
    const changed = new Map<Buffer, Buffer>();
    const marker = again.of(round++);
    for (const { call, changing } of clients) {
      if (changing === undefined) continue;
      const text = (): string => changing.toString('latin1').replace(again.marker, marker);
      const now = changed.get(changing) ?? Buffer.from(text(), 'latin1');
      changed.set(changing, now);
      send(call, now);
    }
  });
  server.bindAsync(`127.0.0.1:${options.port}`, ServerCredentials.createInsecure(), error => {
    if (error !== null) throw error;
    process.stdout.write('ready\n');
  });
}

const command = new Command('bench:floor')
  .requiredOption(
    '--mesh <dir>',
    'folder of YAML files to serve; one VirtualService has a header bench-0-header, a policy a path bench-0-policy',
  )
  .option('--port <number>', 'free port', '25110')
  .addOption(new Option('--again <type>', 'what the trigger sends').choices(Object.keys(AGAIN)).default('routes'))
  .option('--copied', 'through the API of grpc-js', false);
main(command.parse().opts());
