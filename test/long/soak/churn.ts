// The mesh of the soak as files, and changes of it: seeded, so that a lap can be repeated. The mesh has as many objects
// after a million changes as after a hundred, so what grows is a leak.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { namespace, route, service, slice } from '../../e2e/kube/mesh.ts';
import type { Random } from '../../sim/random.ts';
import type { ProxyName } from './client.ts';

export const SERVICES = 60;
const NAMESPACES = 4;
const ENDPOINTS_MAX = 8;
const ENTRIES = 12;

const named = (i: number): ProxyName => ({ namespace: `ns-${i % NAMESPACES}`, name: `svc-${i}` });
export const proxyOf = (i: number): ProxyName => named(i % SERVICES);

export class Churn {
  readonly #folder: string;
  #changes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get changes(): number {
    return this.#changes;
  }

  /** The mesh from its beginning. Nothing of it if it stands there from an earlier call. */
  begin(): void {
    mkdirSync(this.#folder, { recursive: true });
    for (let i = 0; i < NAMESPACES; i++) this.#write(`namespace-${i}`, namespace(`ns-${i}`));
    for (let i = 0; i < SERVICES; i++) {
      const { namespace: ns, name } = named(i);
      this.#write(`service-${i}`, service(ns, name));
      this.#write(`slice-${i}`, slice(ns, name, `10.1.${i}.1`));
    }
  }

  /** A host that every proxy gets a cluster for: a proxy with this cluster has all that was written before it. */
  mark(lap: number): string {
    const host = `lap-${lap}.example.com`;
    this.#write('mark', entry('mark', host, '192.0.2.1'));
    return host;
  }

  change(random: Random): void {
    const i = random.int(SERVICES);
    const { namespace: ns, name } = named(i);
    const stamp = `m${random.int(1_000)}`;
    const roll = random.int(100);
    if (roll < 55) this.#write(`slice-${i}`, slice(ns, name, ...addresses(random, i)));
    else if (roll < 75) this.#write(`route-${i}`, route(ns, name, stamp));
    else if (roll < 80) this.#remove(`route-${i}`);
    else if (roll < 88)
      this.#write(`entry-${i % ENTRIES}`, entry(`e-${i % ENTRIES}`, `${stamp}.example.org`, '192.0.2.7'));
    else if (roll < 92) this.#remove(`entry-${i % ENTRIES}`);
    else if (roll < 96) this.#write(`rule-${i}`, rule(ns, name, 1 + random.int(100)));
    else if (roll < 98) this.#remove(`rule-${i}`);
    else this.#write(`broken-${i % ENTRIES}`, { ...route(ns, 'broken', stamp), spec: { hosts: random.int(9) } });
    this.#changes += 1;
  }

  /** Written beside and moved: the server never reads half a file. */
  #write(name: string, object: JsonObject): void {
    const file = join(this.#folder, `${name}.yaml`);
    const beside = join(this.#folder, `.${name}.next`);
    writeFileSync(beside, JSON.stringify(object));
    renameSync(beside, file);
  }

  #remove(name: string): void {
    rmSync(join(this.#folder, `${name}.yaml`), { force: true });
  }
}

function addresses(random: Random, i: number): readonly string[] {
  return Array.from({ length: random.int(ENDPOINTS_MAX) }, (_, k) => `10.${2 + random.int(4)}.${i}.${k + 1}`);
}

function entry(name: string, host: string, address: string): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name, namespace: 'ns-0' },
    spec: {
      hosts: [host],
      resolution: 'STATIC',
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      endpoints: [{ address }],
    },
  };
}

function rule(ns: string, name: string, connections: number): JsonObject {
  const tcp = { maxConnections: connections };
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: { name, namespace: ns },
    spec: { host: `${name}.${ns}.svc.cluster.local`, trafficPolicy: { connectionPool: { tcp } } },
  };
}
