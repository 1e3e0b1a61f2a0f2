// A proxy of the soak: holds what it was sent, by type and name, and acknowledges each response as Envoy does. In state
// of the world its ACK names the resources that it is subscribed to; an ACK without names would unsubscribe from all.

import { CDS, EDS, LDS, RDS } from '../../../src/xds/session/types.ts';
import { typeOf } from '../../../src/xds/wire/registry.ts';
import { AdsClient, type Received } from '../../protocol/ads-client.ts';

export type Protocol = 'sotw' | 'delta';

export const TYPES = [CDS, EDS, LDS, RDS] as const;
/** Subscribed to by name. */
const NAMED = [EDS, RDS];
const NACKED = 'the soak refuses this one';

export interface ProxyName {
  readonly namespace: string;
  readonly name: string;
}

export class SoakClient {
  readonly proxy: ProxyName;
  readonly protocol: Protocol;
  readonly #ads: AdsClient;
  /** Type → name → bytes, hex. */
  readonly #held = new Map<string, Map<string, string>>(TYPES.map(type => [type, new Map()]));
  readonly #wanted = new Map<string, readonly string[]>(NAMED.map(type => [type, []]));
  /** The nonce that was answered last, by type. */
  readonly #nonces = new Map<string, string>();
  #refusesNext = false;
  #isClosed = false;
  responses = 0;
  hasRefused = false;
  /** By Date.now(). */
  lastHeardMs = Date.now();

  constructor(port: number, protocol: Protocol, proxy: ProxyName, routes: readonly string[]) {
    this.protocol = protocol;
    this.proxy = proxy;
    this.#ads = new AdsClient(port, protocol);
    const { namespace, name } = proxy;
    const node = {
      id: `sidecar~10.1.1.1~${name}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { fields: { NAMESPACE: { stringValue: namespace }, CLUSTER_ID: { stringValue: 'Kubernetes' } } },
    };
    this.#ads.send({ node, typeUrl: CDS });
    this.#ads.send({ typeUrl: LDS });
    this.#subscribe(RDS, routes, '');
    void this.#listen();
  }

  /** Refuses the next response; what it holds stays behind from then on. */
  refuseNext(): void {
    this.#refusesNext = true;
  }

  /** A response that was to be refused and has not come yet is accepted. */
  refuseNone(): void {
    this.#refusesNext = false;
  }

  hasCluster(text: string): boolean {
    return [...this.#of(CDS).keys()].some(name => name.includes(text));
  }

  /** Everything held that was asked for, in a fixed order. */
  all(): readonly string[] {
    return TYPES.flatMap(type => [...this.#of(type)].map(([name, body]) => `${type} ${name} ${body}`)).sort();
  }

  close(): void {
    this.#isClosed = true;
    this.#ads.close();
  }

  async #listen(): Promise<void> {
    while (!this.#isClosed) {
      const response = await this.#ads.next().catch(() => undefined);
      if (response !== undefined && !this.#isClosed) this.#take(response);
    }
  }

  #take(response: Received): void {
    const { typeUrl, nonce } = response;
    this.responses += 1;
    this.lastHeardMs = Date.now();
    this.#nonces.set(typeUrl, nonce);
    const refused = this.#refusesNext;
    this.#refusesNext = false;
    if (refused) this.hasRefused = true;
    else this.#apply(response);
    this.#answer(typeUrl, nonce, refused);
    if (typeUrl === CDS && !refused) this.#askForEndpoints();
  }

  #apply({ typeUrl, resources, bodies, removedResources }: Received): void {
    const held = this.#of(typeUrl);
    const names = this.protocol === 'delta' ? resources.map(({ name }) => name) : bodies.map(b => nameIn(typeUrl, b));
    // A response of all clusters or listeners has those that there are; one of named resources adds to what is held.
    if (this.protocol === 'sotw' && !NAMED.includes(typeUrl)) held.clear();
    names.forEach((name, i) => {
      held.set(name, bodies[i] ?? '');
    });
    for (const name of removedResources) held.delete(name);
  }

  #answer(typeUrl: string, nonce: string, refused: boolean): void {
    const error = refused ? { errorDetail: { code: 13, message: NACKED } } : {};
    const names = this.protocol === 'sotw' ? { resourceNames: this.#wanted.get(typeUrl) ?? [] } : {};
    this.#ads.send({ typeUrl, responseNonce: nonce, ...names, ...error });
  }

  #askForEndpoints(): void {
    const wanted = [...this.#of(CDS).keys()].filter(name => name.startsWith('outbound|')).sort();
    const before = this.#wanted.get(EDS) ?? [];
    if (wanted.length === before.length && wanted.every((name, i) => name === before[i])) return;
    for (const name of before) if (!wanted.includes(name)) this.#of(EDS).delete(name);
    this.#subscribe(EDS, wanted, this.#nonces.get(EDS) ?? '');
  }

  #subscribe(typeUrl: string, names: readonly string[], nonce: string): void {
    const before = this.#wanted.get(typeUrl) ?? [];
    this.#wanted.set(typeUrl, names);
    if (this.protocol === 'sotw') this.#ads.send({ typeUrl, resourceNames: names, responseNonce: nonce });
    else {
      const resourceNamesSubscribe = names.filter(name => !before.includes(name));
      const resourceNamesUnsubscribe = before.filter(name => !names.includes(name));
      this.#ads.send({ typeUrl, resourceNamesSubscribe, resourceNamesUnsubscribe });
    }
  }

  #of(type: string): Map<string, string> {
    return this.#held.get(type) ?? new Map();
  }
}

function nameIn(typeUrl: string, body: string): string {
  const message = typeOf(typeUrl.slice(typeUrl.indexOf('/') + 1)).decode(Buffer.from(body, 'hex'));
  const { name, clusterName } = message as unknown as Readonly<Record<string, string | undefined>>;
  return name ?? clusterName ?? '';
}
