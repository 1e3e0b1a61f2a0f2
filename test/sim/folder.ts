// The folder that the control plane is configured from: what is in it now, and what a change of it is as facts.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Fact } from '../../src/core/event.ts';
import { anyObject } from '../../src/testing/objects.ts';
import type { Random } from './random.ts';

/** Objects that a run has to choose from. */
const OBJECTS = 40;
/** Some of it is refused. */
const MESHES: readonly Json[] = [
  {},
  { accessLogFile: '/dev/stdout' },
  { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } },
  { accessLogFile: 7 },
];

export class Folder {
  readonly #random: Random;
  readonly #pool: readonly JsonObject[];
  readonly #objects = new Map<string, JsonObject>();
  #mesh: Json = null;

  constructor(seed: number, random: Random) {
    this.#random = random;
    this.#pool = fc.sample(anyObject, { seed, numRuns: OBJECTS });
    for (const object of this.#pool.slice(0, OBJECTS / 2)) this.#objects.set(keyOf(object), object);
  }

  all(): readonly Fact[] {
    const facts: Fact[] = [...this.#objects.values()].map(object => ({ kind: 'Add', object }));
    return [...facts, { kind: 'MeshConfig', value: this.#mesh }];
  }

  /** Has happened when this returns; the facts are what would be said of it. */
  change(): { readonly batch: readonly Fact[]; readonly what: string } {
    const batch: Fact[] = [];
    const what: string[] = [];
    for (let i = this.#random.int(3); i >= 0; i--) {
      const object = this.#random.pick(this.#pool);
      const key = keyOf(object);
      if (this.#random.chance(0.05)) {
        this.#mesh = this.#random.pick(MESHES);
        batch.push({ kind: 'MeshConfig', value: this.#mesh });
        what.push('MeshConfig');
      } else if (this.#objects.has(key) && this.#random.chance(0.5)) {
        this.#objects.delete(key);
        batch.push({ kind: 'Delete', ref: refOf(object) });
        what.push(`Delete ${key}`);
      } else {
        this.#objects.set(key, object);
        batch.push({ kind: 'Add', object });
        what.push(`Add ${key}`);
      }
    }
    return { batch, what: what.join(', ') };
  }
}

function keyOf(object: JsonObject): string {
  const { namespace, name } = object.metadata as JsonObject;
  return `${String(object.kind)}/${String(namespace ?? '')}/${String(name)}`;
}

function refOf(object: JsonObject): { apiVersion: string; kind: string; namespace: string; name: string } {
  const { namespace, name } = object.metadata as JsonObject;
  const text = (value: Json | undefined): string => (value === undefined ? '' : String(value));
  return { apiVersion: text(object.apiVersion), kind: text(object.kind), namespace: text(namespace), name: text(name) };
}
