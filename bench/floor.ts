// `npm run bench:floor -- --mesh DIR`: what Node itself needs. A bare grpc-js server without sessions, schedule, receipts, journal and state sends
// what Periplus would send (made at the first request, one copy a namespace). Drive it with the load tool of bench/load.ts, with
// `kill -USR2 PID` as its trigger. What Periplus needs beyond this is ours; this is the price of the runtime. `--copied`: responses go through
// grpc-js's own API, which copies each of them for each proxy.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { Command } from 'commander';
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
const MARKER = /bench-\d+-header/;

/** Everything of the folder, folded. */
function stateOf(folder: string): State {
  const facts: Unrecorded[] = readdirSync(folder)
    .sort()
    .flatMap(file => parseFile(file, readFileSync(join(folder, file))).objects)
    .map(({ object }) => ({ source: 'file/Kubernetes', kind: 'Add', object }));
  return foldAll(numbered(facts));
}

/** What a proxy of the node's namespace is sent for a request of that type and these names. */
class Responses {
  readonly #engine = new Engine(resourceSources);
  readonly #made = new Map<string, Buffer>();
  #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  of(node: JsonObject, namespace: string, typeUrl: string, names: readonly string[]): Buffer {
    const key = `${namespace} ${typeUrl}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const fact: Fact = { kind: 'ProxyConnected', connection: CONNECTION, protocol: 'delta', node };
    this.#state = foldAll(numbered([{ source: 'xds', ...fact }], this.#state.seq), this.#state);
    const proxy = this.#state.proxies.get(CONNECTION)!;
    const subscription = { wildcard: names.length === 0, names: [...names].sort() };
    const set = this.#engine.resourcesFor(this.#state, proxy, typeUrl, subscription)!;
    const frames = [...set.resources.values()].map(({ deltaFrame }) => deltaFrame);
    const parts = { systemVersionInfo: set.digest, typeUrl, nonce: 'n', frames, removed: [] };
    const bytes = deltaDiscoveryResponse(parts);
    this.#made.set(key, bytes);
    return bytes;
  }
}

interface Client {
  readonly call: Call;
  node: JsonObject | undefined;
  namespace: string;
  routes: Buffer | undefined;
}

function main(options: { readonly mesh: string; readonly port: string; readonly copied: boolean }): void {
  const responses = new Responses(stateOf(options.mesh));
  const clients = new Set<Client>();
  const send = (call: Call, bytes: Buffer): void => {
    if (options.copied) call.write(bytes);
    else sendPieces(call, [bytes], () => undefined);
  };
  const accept = (call: Call): void => {
    const client: Client = { call, node: undefined, namespace: '', routes: undefined };
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
      if (typeUrl.endsWith('RouteConfiguration')) client.routes = answer;
      send(call, answer);
    });
  };
  const server = new Server({ 'grpc.max_send_message_length': -1, 'grpc.enable_channelz': 0 });
  server.addService(adsService, { deltaAggregatedResources: accept });
  let round = 0;
  // The load tool's trigger: every client gets its routes again, with another header.
  process.on('SIGUSR2', () => {
    const changed = new Map<Buffer, Buffer>();
    const marker = `bench-${round++}-header`;
    for (const { call, routes } of clients) {
      if (routes === undefined) continue;
      const now = changed.get(routes) ?? Buffer.from(routes.toString('latin1').replace(MARKER, marker), 'latin1');
      changed.set(routes, now);
      send(call, now);
    }
  });
  server.bindAsync(`127.0.0.1:${options.port}`, ServerCredentials.createInsecure(), error => {
    if (error !== null) throw error;
    process.stdout.write('ready\n');
  });
}

const command = new Command('bench:floor')
  .requiredOption('--mesh <dir>', 'folder of YAML files to serve; one VirtualService has a header bench-0-header')
  .option('--port <number>', 'free port', '25110')
  .option('--copied', 'through the API of grpc-js', false);
main(command.parse().opts());
