// A sidecar that asks by incremental ADS for everything, accepts whatever comes and keeps it: what a proxy of the mesh
// holds, as bytes.

import { CDS, EDS, LDS, RDS } from '../../../src/xds/session/types.ts';
import { AdsClient, type Received } from '../../protocol/ads-client.ts';

export interface SidecarOptions {
  readonly port: number;
  readonly namespace: string;
  readonly name: string;
  /** Names of route configurations to ask for. */
  readonly routes: readonly string[];
  /** Id of its cluster. */
  readonly cluster?: string;
}

const TYPES = [CDS, EDS, LDS, RDS];

export class SidecarClient {
  /** type → name → bytes, hex. */
  readonly holds = new Map<string, Map<string, string>>(TYPES.map(type => [type, new Map()]));
  /** When a response last came, by Date.now(). */
  lastHeardMs = 0;
  responses = 0;
  readonly #client: AdsClient;
  readonly #named = new Set<string>();
  readonly #until: { readonly text: string; readonly resolve: (ms: number) => void }[] = [];
  #closed = false;

  constructor(options: SidecarOptions) {
    this.#client = new AdsClient(options.port, 'delta');
    const { namespace, name, cluster = 'Kubernetes' } = options;
    const node = {
      id: `sidecar~10.1.1.1~${name}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { fields: { NAMESPACE: { stringValue: namespace }, CLUSTER_ID: { stringValue: cluster } } },
    };
    this.#client.send({ node, typeUrl: CDS });
    this.#client.send({ typeUrl: LDS });
    this.#client.send({ typeUrl: RDS, resourceNamesSubscribe: options.routes });
    void this.#listen();
  }

  /** Everything held, in a fixed order. */
  all(): readonly string[] {
    return TYPES.flatMap(type => [...this.#of(type)].map(([name, body]) => `${type} ${name} ${body}`)).sort();
  }

  names(type: string): readonly string[] {
    return [...this.#of(type).keys()].sort();
  }

  has(type: string, text: string): boolean {
    const hex = Buffer.from(text).toString('hex');
    return [...this.#of(type).values()].some(body => body.includes(hex));
  }

  /** Date.now() at which a response contained the text. */
  hears(text: string): Promise<number> {
    return new Promise(resolve => this.#until.push({ text: Buffer.from(text).toString('hex'), resolve }));
  }

  close(): void {
    this.#closed = true;
    this.#client.close();
  }

  #of(type: string): Map<string, string> {
    return this.holds.get(type) ?? new Map();
  }

  async #listen(): Promise<void> {
    while (!this.#closed) {
      const response = await this.#client.next().catch(() => undefined);
      if (response !== undefined) this.#take(response);
    }
  }

  #take(response: Received): void {
    const { typeUrl, nonce, resources, bodies, removedResources } = response;
    const held = this.#of(typeUrl);
    resources.forEach(({ name }, i) => {
      held.set(name, bodies[i] ?? '');
    });
    for (const name of removedResources) held.delete(name);
    this.#client.send({ typeUrl, responseNonce: nonce });
    if (typeUrl === CDS) this.#askForEndpoints();
    this.responses += 1;
    this.lastHeardMs = Date.now();
    for (const one of this.#until.splice(0)) {
      if (bodies.some(body => body.includes(one.text))) one.resolve(this.lastHeardMs);
      else this.#until.push(one);
    }
  }

  #askForEndpoints(): void {
    const wanted = this.names(CDS).filter(name => name.startsWith('outbound|'));
    const subscribe = wanted.filter(name => !this.#named.has(name));
    const gone = [...this.#named].filter(name => !wanted.includes(name));
    for (const name of subscribe) this.#named.add(name);
    for (const name of gone) {
      this.#named.delete(name);
      this.#of(EDS).delete(name);
    }
    if (subscribe.length + gone.length === 0) return;
    this.#client.send({ typeUrl: EDS, resourceNamesSubscribe: subscribe, resourceNamesUnsubscribe: gone });
  }
}
