// Everything a client holds of one type: the resources by name, their versions, and the digest that receipts carry.
// Proxies with the same resources share one set (set-book.ts), and so one digest and one map of versions.

import { hash } from 'node:crypto';
import { type EncodedResource, encodeResource } from './encode.ts';

interface Made {
  readonly name: string;
  readonly message: unknown;
  readonly aliases?: readonly string[];
}

export class ResourceSet {
  readonly typeUrl: string;
  /** In name order. */
  readonly resources: ReadonlyMap<string, EncodedResource>;
  readonly #made: readonly Made[];
  #versions: ReadonlyMap<string, string> | undefined;
  #aliases: ReadonlyMap<string, readonly string[]> | undefined;
  #digest: string | undefined;

  /** If several resources have one name, the first counts. */
  constructor(typeUrl: string, made: readonly Made[]) {
    const resources = new Map<string, EncodedResource>();
    for (const { name, message } of isSorted(made) ? made : distinct([...made].sort(byName))) {
      resources.set(name, encodeResource(typeUrl, name, message as object));
    }
    this.typeUrl = typeUrl;
    this.resources = resources;
    this.#made = made;
  }

  /** Resource name → content hash, in name order. */
  get versions(): ReadonlyMap<string, string> {
    this.#versions ??= versionsOf(this.resources);
    return this.#versions;
  }

  get size(): number {
    return this.resources.size;
  }

  /** Other name → the names of the resources that have it too. */
  get aliases(): ReadonlyMap<string, readonly string[]> {
    this.#aliases ??= aliasesOf(this.#made);
    return this.#aliases;
  }

  get digest(): string {
    this.#digest ??= digestOf(this.versions);
    return this.#digest;
  }
}

/** Without a pair for each resource, of which a long list would leave tens of thousands to the collector. */
function versionsOf(resources: ReadonlyMap<string, EncodedResource>): ReadonlyMap<string, string> {
  const versions = new Map<string, string>();
  for (const [name, { version }] of resources) versions.set(name, version);
  return versions;
}

/** sha256 (hex) over the lines `name@version\n` in name order. `versions` must be in name order. */
export function digestOf(versions: ReadonlyMap<string, string>): string {
  let lines = '';
  for (const [name, version] of versions) lines += `${name}@${version}\n`;
  return hash('sha256', lines, 'hex');
}

const noAliases: ReadonlyMap<string, readonly string[]> = new Map();

function aliasesOf(made: readonly Made[]): ReadonlyMap<string, readonly string[]> {
  if (made.every(({ aliases }) => aliases === undefined)) return noAliases;
  const found = new Map<string, string[]>();
  for (const { name, aliases = [] } of made) {
    for (const alias of aliases) {
      const names = found.get(alias);
      if (names === undefined) found.set(alias, [name]);
      else names.push(name);
    }
  }
  return found;
}

/** True only if no name occurs twice. */
function isSorted(made: readonly Made[]): boolean {
  for (let i = 1; i < made.length; i++) if (made[i]!.name <= made[i - 1]!.name) return false;
  return true;
}

function distinct(sorted: readonly Made[]): readonly Made[] {
  return sorted.filter(({ name }, i) => name !== sorted[i - 1]?.name);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
