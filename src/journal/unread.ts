// An unparsed version of an object: its key is known, the rest stays text until it is read. Most versions that a start
// goes through are superseded and never read.

import { isObject, type JsonObject } from '../core/base/json.ts';
import type { Origin } from '../core/base/problem.ts';
import type { ObjectAdded, ObjectRef } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import { JournalFault } from './fault.ts';
import { objectRefIn } from './object-ref.ts';
import { SEALED_PREFIX } from './private-values.ts';
import type { Row } from './store.ts';
import type { Vault } from './vault.ts';

/** Undefined: not a version of an object, or its key needs parsing. Sealed values are opened when it is read. */
export function unreadObject(row: Row, vault: Vault): UnreadVersion | undefined {
  if (row.kind !== 'Add' && row.kind !== 'Update') return undefined;
  const ref = objectRefIn(row.body);
  if (ref === undefined || isSealed(ref)) return undefined;
  return new UnreadObject(row, ref, vault);
}

/** The writer of the journal may have marked the name of an object as private. */
function isSealed({ apiVersion, kind, namespace, name }: ObjectRef): boolean {
  return [apiVersion, kind, namespace, name].some(text => text.startsWith(SEALED_PREFIX));
}

type Place = Pick<Row, 'seq' | 'time' | 'source' | 'body'>;

export class UnreadObject implements UnreadVersion {
  readonly kind = 'Unread';
  readonly seq: number;
  readonly time: number;
  readonly source: string;
  readonly ref: ObjectRef;
  /** Until it is parsed. */
  #text: string;
  #fact: ObjectAdded | undefined;
  readonly #vault: Vault | undefined;

  /** `vault`: opens what is sealed. Undefined: nothing is. */
  constructor(row: Place, ref: ObjectRef, vault?: Vault) {
    this.seq = row.seq;
    this.time = row.time;
    this.source = row.source;
    this.ref = ref;
    this.#text = row.body;
    this.#vault = vault;
  }

  get object(): JsonObject {
    return this.#read().object;
  }

  get origin(): Origin | undefined {
    return this.#read().origin;
  }

  #read(): ObjectAdded {
    if (this.#fact === undefined) {
      const fact = this.#vault === undefined ? JSON.parse(this.#text) : this.#vault.open(this.#text, this.seq, 'Add');
      if (!isOf(this.ref, fact as ObjectAdded)) {
        throw new JournalFault('damaged', 'the members that name its object are there twice', { seq: this.seq });
      }
      this.#fact = fact as ObjectAdded;
      this.#text = '';
    }
    return this.#fact;
  }
}

/** A text from elsewhere may have a member twice: the name was found in the first, and what is read is the last. */
function isOf(ref: ObjectRef, { object }: ObjectAdded): boolean {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const { namespace = '', name } = metadata;
  const isNamed = name === ref.name && namespace === ref.namespace;
  return isNamed && object.kind === ref.kind && object.apiVersion === ref.apiVersion;
}
