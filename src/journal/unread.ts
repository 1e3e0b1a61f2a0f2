// An unparsed version of an object: its key is known, the rest stays text until it is read. Most versions that a start
// goes through are superseded and never read.

import type { JsonObject } from '../core/base/json.ts';
import type { Origin } from '../core/base/problem.ts';
import type { ObjectAdded, ObjectRef } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import { objectRefIn } from './object-ref.ts';
import type { Row } from './store.ts';
import { holdsSealed } from './vault.ts';

/**
 * Undefined: not a version of an object, or its key needs parsing, or it has sealed values, which are unsealed at once.
 */
export function unreadObject(row: Row): UnreadVersion | undefined {
  if ((row.kind !== 'Add' && row.kind !== 'Update') || holdsSealed(row.body)) return undefined;
  const ref = objectRefIn(row.body);
  return ref === undefined ? undefined : new UnreadObject(row, ref);
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

  constructor(row: Place, ref: ObjectRef) {
    this.seq = row.seq;
    this.time = row.time;
    this.source = row.source;
    this.ref = ref;
    this.#text = row.body;
  }

  get object(): JsonObject {
    return this.#read().object;
  }

  get origin(): Origin | undefined {
    return this.#read().origin;
  }

  #read(): ObjectAdded {
    if (this.#fact === undefined) {
      this.#fact = JSON.parse(this.#text) as ObjectAdded;
      this.#text = '';
    }
    return this.#fact;
  }
}
