// A proxy for recording samples: over a real stream it asks for what Envoy would ask for (clusters, the endpoints of
// those, listeners, the routes these name) and accepts what it gets, except what `refuses` finds fault with, which it
// refuses in Envoy's words.

import type { JsonObject } from '../../src/core/base/json.ts';
import { encodeMessage } from '../../src/xds/engine/encode.ts';
import { watchedNames } from '../../src/xds/generate/common/watched-names.ts';
import { typeNameOf } from '../../src/xds/proto/any.ts';
import { CDS, EDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { decodeBytes } from '../../src/xds/wire/unpack.ts';
import { AdsClient } from '../../test/protocol/ads-client.ts';

export type Refuses = (typeUrl: string, name: string, resource: JsonObject) => string | undefined;

const NODE = 'envoy.config.core.v3.Node';

export class SampleProxy {
  readonly #client: AdsClient;
  readonly #refuses: Refuses;
  readonly #held = new Map<string, Map<string, JsonObject>>([
    [CDS, new Map()],
    [LDS, new Map()],
  ]);
  readonly #asked = new Map<string, ReadonlySet<string>>([
    [EDS, new Set()],
    [RDS, new Set()],
  ]);
  #done = false;

  constructor(port: number, node: JsonObject, refuses: Refuses = () => undefined) {
    this.#client = new AdsClient(port, 'delta');
    this.#refuses = refuses;
    // The metadata is a Struct, which encodeMessage takes as JSON and protobufjs does not.
    const message = typeOf(NODE).decode(encodeMessage(NODE, node));
    this.#client.send({ node: message, typeUrl: CDS });
    this.#client.send({ typeUrl: LDS });
    void this.#run();
  }

  close(): void {
    this.#done = true;
    this.#client.close();
  }

  async #run(): Promise<void> {
    while (!this.#done) {
      if (this.#client.waiting === 0) {
        await new Promise<void>(resolve => setTimeout(resolve, 10));
        continue;
      }
      this.#take(await this.#client.next());
    }
  }

  #take({ typeUrl, nonce, resources, removedResources, bodies }: Awaited<ReturnType<AdsClient['next']>>): void {
    const faults: string[] = [];
    const fresh = new Map<string, JsonObject>();
    for (const [i, { name }] of resources.entries()) {
      const resource = decodeBytes(typeOf(typeNameOf(typeUrl)), Buffer.from(bodies[i]!, 'hex')) as JsonObject;
      const fault = this.#refuses(typeUrl, name, resource);
      if (fault === undefined) fresh.set(name, resource);
      else faults.push(`${name}: ${fault}`);
    }
    if (faults.length > 0) {
      const message = `Error adding/updating listener(s) ${faults.join(', ')}\n`;
      this.#client.send({ typeUrl, responseNonce: nonce, errorDetail: { code: 13, message } });
    } else this.#client.send({ typeUrl, responseNonce: nonce });
    const held = this.#held.get(typeUrl);
    if (held === undefined) return;
    for (const name of removedResources) held.delete(name);
    for (const [name, resource] of fresh) held.set(name, resource);
    if (typeUrl === CDS)
      this.#ask(
        EDS,
        [...held.values()].flatMap(cluster => watchedNames(cluster).endpoints),
      );
    if (typeUrl === LDS)
      this.#ask(
        RDS,
        [...held.values()].flatMap(listener => watchedNames(listener).routes),
      );
  }

  #ask(typeUrl: string, names: readonly string[]): void {
    const wanted = new Set(names);
    const before = this.#asked.get(typeUrl) ?? new Set<string>();
    const subscribe = [...wanted].filter(name => !before.has(name)).sort();
    const unsubscribe = [...before].filter(name => !wanted.has(name)).sort();
    if (subscribe.length === 0 && unsubscribe.length === 0) return;
    this.#asked.set(typeUrl, wanted);
    this.#client.send({ typeUrl, resourceNamesSubscribe: subscribe, resourceNamesUnsubscribe: unsubscribe });
  }
}

/** A process without root binds no port below 1024: what Envoy says when it is told to. */
export const refusesPrivilegedPorts: Refuses = (typeUrl, _name, resource) => {
  if (typeUrl !== LDS) return undefined;
  const { address } = resource as { readonly address?: { readonly socketAddress?: JsonObject } };
  const { address: host, portValue } = address?.socketAddress ?? {};
  return Number(portValue) < 1_024
    ? `cannot bind '${String(host)}:${String(portValue)}': Permission denied`
    : undefined;
};
