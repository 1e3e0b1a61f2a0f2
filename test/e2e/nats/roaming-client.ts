// A delta client that reconnects with the versions of what it holds, as Envoy does, and counts what it is sent.

import { CDS, EDS, LDS } from '../../../src/xds/session/types.ts';
import { AdsClient } from '../../protocol/ads-client.ts';

const TYPES = [CDS, EDS, LDS] as const;

export class RoamingClient {
  /** type → name → version. */
  readonly holds = new Map<string, Map<string, string>>(TYPES.map(type => [type, new Map()]));
  /** Resources, sent or removed, since the last connection began. */
  sent = 0;
  /** Responses since then. */
  responses = 0;
  readonly #port: number;
  readonly #name: string;
  #client: AdsClient | undefined;
  #asked = new Set<string>();

  constructor(port: number, name: string) {
    this.#port = port;
    this.#name = name;
    this.#connect();
  }

  names(type: string): readonly string[] {
    return [...(this.holds.get(type) ?? [])].map(([name]) => name).sort();
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.close();
  }

  #connect(): void {
    const client = new AdsClient(this.#port, 'delta');
    this.#client = client;
    this.sent = 0;
    this.responses = 0;
    const node = {
      id: `sidecar~10.1.1.1~${this.#name}.shop~shop.svc.cluster.local`,
      metadata: { fields: { NAMESPACE: { stringValue: 'shop' }, CLUSTER_ID: { stringValue: 'Kubernetes' } } },
    };
    const [clusters, endpoints, listeners] = TYPES.map(type => Object.fromEntries(this.holds.get(type) ?? []));
    client.send({ node, typeUrl: CDS, initialResourceVersions: clusters });
    client.send({ typeUrl: LDS, initialResourceVersions: listeners });
    this.#asked = new Set(this.names(EDS));
    if (this.#asked.size > 0) {
      client.send({
        typeUrl: EDS,
        resourceNamesSubscribe: [...this.#asked],
        initialResourceVersions: endpoints,
      });
    }
    void this.#listen(client);
    void client.ended().then(() => {
      client.close();
      if (this.#client === client) setTimeout(() => this.#client === client && this.#connect(), 100);
    });
  }

  async #listen(client: AdsClient): Promise<void> {
    while (this.#client === client) {
      const response = await client.next().catch(() => undefined);
      if (response === undefined || this.#client !== client) continue;
      const { typeUrl, nonce, resources, removedResources } = response;
      const held = this.holds.get(typeUrl) ?? new Map<string, string>();
      for (const { name, version } of resources) held.set(name, version);
      for (const name of removedResources) held.delete(name);
      this.sent += resources.length + removedResources.length;
      this.responses += 1;
      client.send({ typeUrl, responseNonce: nonce });
      if (typeUrl === CDS) this.#askForEndpoints(client);
    }
  }

  #askForEndpoints(client: AdsClient): void {
    const fresh = this.names(CDS).filter(name => name.startsWith('outbound|') && !this.#asked.has(name));
    for (const name of fresh) this.#asked.add(name);
    if (fresh.length > 0) client.send({ typeUrl: EDS, resourceNamesSubscribe: fresh });
  }
}
