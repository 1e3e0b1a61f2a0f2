// Table: a persistent sorted map. Writing makes a new version in O(log n) and leaves the old one intact; iteration is
// by key (UTF-16 code units), so a value built from a table depends on its contents and never on its history.
//
// Why not immer: drafting a container of thousands copies it (docs/adr/0001). immer is used for the small root above
// the tables.

import * as sortedBtree from 'sorted-btree';
import * as sortedBtreeBulk from 'sorted-btree/extended/bulkLoad.js';
import * as sortedBtreeDiff from 'sorted-btree/extended/diffAgainst.js';

// A CommonJS module with a `default` export: Node's import hands out the exports object, a bundler or vitest the class
// itself.
type Class = typeof sortedBtree.default.default;
const imported: unknown = sortedBtree.default;
const BTree = (
  typeof imported === 'function' ? imported : (imported as { readonly default: unknown }).default
) as Class;
type Tree<V> = InstanceType<typeof sortedBtree.default.default<string, V>>;
type Diff = typeof sortedBtreeDiff.default.default;
const importedDiff: unknown = sortedBtreeDiff.default;
const diffAgainst = (
  typeof importedDiff === 'function' ? importedDiff : (importedDiff as { readonly default: unknown }).default
) as Diff;

const { bulkLoad } = sortedBtreeBulk;

/** As the library has it. */
const NODE_SIZE_MAX = 32;
/**
 * From how many changes on, and from what part of a table on, it is put together anew instead of written key by key.
 */
const REBUILD_CHANGES_MIN = 256;
const REBUILD_PART_MIN = 1 / 8;

const compare = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1);

export class Table<V> {
  readonly #tree: Tree<V>;
  /**
   * The last place found: most writes follow a read of the same key, and the search in a large table is the largest
   * cost here.
   */
  #lastKey: string | undefined;
  #lastValue: V | undefined;

  private constructor(tree: Tree<V>) {
    this.#tree = tree;
  }

  static empty<V>(): Table<V> {
    return new Table<V>(new BTree<string, V>(undefined, compare));
  }

  static from<V>(entries: Iterable<readonly [string, V]>): Table<V> {
    return Table.empty<V>().withAll(entries);
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: string): V | undefined {
    if (key !== this.#lastKey) {
      this.#lastValue = this.#tree.get(key);
      this.#lastKey = key;
    }
    return this.#lastValue;
  }

  has(key: string): boolean {
    return this.#tree.has(key);
  }

  /** The same table when the value is already there, by identity. */
  with(key: string, value: V): Table<V> {
    if (this.get(key) === value && this.#tree.has(key)) return this;
    const next = this.#tree.clone();
    next.set(key, value);
    return new Table(next);
  }

  withAll(entries: Iterable<readonly [string, V]>): Table<V> {
    const next = this.#tree.clone();
    for (const [key, value] of entries) next.set(key, value);
    return new Table(next);
  }

  /**
   * First the deletions, then the entries, in one new version. Of one key the last entry counts. Cheapest with entries
   * in key order.
   */
  changed(deletions: readonly string[], entries: readonly (readonly [string, V])[]): Table<V> {
    const changes = deletions.length + entries.length;
    if (changes >= REBUILD_CHANGES_MIN && changes >= this.size * REBUILD_PART_MIN) {
      return this.#rebuilt(new Set(deletions), sorted(entries));
    }
    const next = this.#tree.clone();
    for (const key of deletions) next.delete(key);
    for (const [key, value] of entries) next.set(key, value);
    return new Table(next);
  }

  /** Merges both: a walk through a table costs less than a search for each of many keys. */
  #rebuilt(deletions: ReadonlySet<string>, entries: readonly (readonly [string, V])[]): Table<V> {
    const keys: string[] = [];
    const values: V[] = [];
    let last: string | undefined;
    const add = (key: string, value: V): void => {
      if (key === last) values[values.length - 1] = value;
      else {
        keys.push(key);
        values.push(value);
        last = key;
      }
    };
    let at = 0;
    this.#tree.forEachPair((key, value) => {
      for (; at < entries.length && entries[at]![0] <= key; at++) add(entries[at]![0], entries[at]![1]);
      if (key !== last && !deletions.has(key)) add(key, value);
    });
    for (; at < entries.length; at++) add(entries[at]![0], entries[at]![1]);
    return new Table(bulkLoad(keys, values, NODE_SIZE_MAX, compare));
  }

  without(key: string): Table<V> {
    if (!this.#tree.has(key)) return this;
    const next = this.#tree.clone();
    next.delete(key);
    return new Table(next);
  }

  /** In key order. */
  *entries(): IterableIterator<readonly [string, V]> {
    yield* this.#tree.entries();
  }

  *keys(): IterableIterator<string> {
    yield* this.#tree.keys();
  }

  *values(): IterableIterator<V> {
    yield* this.#tree.values();
  }

  /**
   * Keys whose value is not the identical one in both, in no particular order. O(differences · log n) if one was made
   * from the other.
   */
  keysUnlike(other: Table<V>): readonly string[] {
    const keys: string[] = [];
    if (other === this) return keys;
    const note = (key: string): void => {
      keys.push(key);
    };
    diffAgainst(this.#tree, other.#tree, note, note, note);
    return keys;
  }

  /** As `range`, without making the list: for a reader that stops early. O(log n + values taken). */
  *valuesFrom(prefix: string): IterableIterator<V> {
    for (const [key, value] of this.#tree.entries(prefix)) {
      if (!key.startsWith(prefix)) return;
      yield value;
    }
  }

  /** The values whose key begins with `prefix`, in key order. O(log n + result). */
  range(prefix: string): readonly V[] {
    if (prefix === '') return [...this.#tree.values()];
    const found: V[] = [];
    // The next text after all that begin so. Not `prefix` with the last of all characters: comparing that with plain
    // ASCII is slow.
    const last = prefix.length - 1;
    const end = `${prefix.slice(0, last)}${String.fromCharCode(prefix.charCodeAt(last) + 1)}`;
    this.#tree.forRange(prefix, end, false, (_key, value) => {
      found.push(value);
    });
    // Cut to its length, since a list that grew keeps room for more: most ranges are short, and reads keep them.
    return found.slice();
  }
}

/** By key; of one key in the order given. */
function sorted<V>(entries: readonly (readonly [string, V])[]): readonly (readonly [string, V])[] {
  for (let i = 1; i < entries.length; i++) {
    if (entries[i - 1]![0] > entries[i]![0]) return [...entries].sort(([a], [b]) => compare(a, b));
  }
  return entries;
}
