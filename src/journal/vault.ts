// The key of one journal, and sealing, unsealing and redacting of whole facts with it.
//
// The key file is created with the first private value (a journal without secrets has none), and never for a journal
// that was sealed with another key: a lost key must not be replaced silently.

import { createHash } from 'node:crypto';
import { canonicalSteps, isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { listKeys } from '../core/base/keys.ts';
import type { Steps } from '../core/base/steps.ts';
import { JournalFault } from './fault.ts';
import { placeholderOf } from './placeholder.ts';
import type { MarkedPath } from './private-values.ts';
import { mapPrivate, SEALED_APART_MAX, SEALED_PREFIX } from './private-values.ts';
import type { Sealer } from './seal.ts';
import { createKeyFile, randomKey, readKeyFile, sealerOf } from './seal.ts';
import { bodyOf } from './stored-body.ts';

/** Further values to seal in an event's or a snapshot's fact, beyond those of Secrets. */
export type PrivatePaths = (fact: JsonObject) => readonly MarkedPath[];

/** Stored text without this marker has no sealed value. */
export const SEALED_IN_TEXT = `"${SEALED_PREFIX}`;

/** Values of one fact that are sealed, some 20 microseconds each. */
export const SEALED_VALUES_MAX = 4_096;

export class Vault {
  /** Undefined: the key exists in this process only. */
  readonly #keyFile: string | undefined;
  readonly #privatePaths: PrivatePaths | undefined;
  readonly #mayCreate: boolean;
  #recorded: string | undefined;
  readonly #recordedLater: (() => string | undefined) | undefined;
  readonly #journal: string | undefined;
  #sealer: Sealer | undefined;

  /**
   * `recorded`: the key check in the journal, if something was sealed before. Faults: `wrong-key`; `key-missing`, for a
   * writer only (a reader without the key sees sealed text).
   */
  constructor(options: {
    readonly keyFile: string | undefined;
    readonly recorded: string | undefined;
    readonly readonly: boolean;
    readonly privatePaths?: PrivatePaths;
    /** For a reader: the key check that the writer may have recorded since. */
    readonly recordedLater?: () => string | undefined;
    /** The path of the journal, for messages. */
    readonly journal?: string;
  }) {
    this.#journal = options.journal;
    this.#keyFile = options.keyFile;
    this.#recorded = options.recorded;
    this.#recordedLater = options.recordedLater;
    this.#privatePaths = options.privatePaths;
    this.#mayCreate = !options.readonly && options.recorded === undefined;
    if (options.recorded !== undefined && options.keyFile !== undefined) {
      this.#load(options.keyFile, options.recorded, options.readonly);
    }
  }

  #load(keyFile: string, recorded: string, readonly: boolean): void {
    const key = readKeyFile(keyFile);
    if (key === undefined) {
      if (readonly) return;
      throw new JournalFault(
        'key-missing',
        'this journal holds sealed values and its key file is not there; put it back, name it, or open the journal for reading only',
        { path: keyFile },
      );
    }
    const sealer = sealerOf(key);
    if (sealer.check !== recorded) {
      throw new JournalFault('wrong-key', 'this is not the key that the journal was sealed with', { path: keyFile });
    }
    this.#sealer = sealer;
  }

  /** To open sealed values with; undefined: the key is not there. Faults, for a reader only: `wrong-key`. */
  #opener(): Sealer | undefined {
    if (this.#sealer !== undefined || this.#recorded !== undefined || this.#keyFile === undefined) return this.#sealer;
    // The journal had no sealed value when this reader opened it.
    const recorded = this.#recordedLater?.();
    if (recorded !== undefined) this.#load(this.#keyFile, recorded, true);
    this.#recorded = recorded;
    return this.#sealer;
  }

  /** The check of the key in use, to be recorded with the first sealed value. */
  get check(): string | undefined {
    return this.#sealer?.check ?? this.#recorded;
  }

  /** May create the key file. Faults: `unfit-fact`: more than SEALED_VALUES_MAX values. */
  seal(fact: JsonObject): JsonObject {
    return this.#seal(fact, new Map());
  }

  /** As `seal`, in steps: the text of a part with tens of thousands of members takes as long as all the rest. */
  *sealing(fact: JsonObject): Steps<JsonObject> {
    const parts: JsonObject[] = [];
    const collect = (value: Json): Json => {
      if (isObject(value) && listKeys(value).length > SEALED_APART_MAX) parts.push(value);
      return value;
    };
    mapPrivate(fact, this.marked(fact), collect, SEALED_APART_MAX);
    const texts = new Map<Json, string>();
    for (const part of parts) {
      texts.set(part, yield* canonicalSteps(part));
      yield;
    }
    return this.#seal(fact, texts);
  }

  /** `texts`: canonical JSON of some of the values. */
  #seal(fact: JsonObject, texts: ReadonlyMap<Json, string>): JsonObject {
    let count = 0;
    const seal = (value: Json, place: string): string => {
      if (++count > SEALED_VALUES_MAX) {
        const why = `more than ${SEALED_VALUES_MAX} private values, or texts that begin with ${SEALED_PREFIX}`;
        throw new JournalFault('unfit-fact', `${why}; an object with as many is not recorded`);
      }
      return this.#need().seal(value, place, texts.get(value));
    };
    return mapPrivate(fact, this.marked(fact), seal, SEALED_APART_MAX);
  }

  marked(fact: JsonObject): readonly MarkedPath[] {
    return this.#privatePaths?.(fact) ?? [];
  }

  #need(): Sealer {
    if (this.#sealer === undefined) {
      if (!this.#mayCreate) throw new JournalFault('key-missing', 'no key to seal with', { path: this.#keyFile });
      const keyFile = this.#keyFile;
      this.#sealer = sealerOf(keyFile === undefined ? randomKey() : (readKeyFile(keyFile) ?? createKeyFile(keyFile)));
    }
    return this.#sealer;
  }

  /** Parses stored text; sealed values are opened if the key is there. Faults: `damaged`. */
  open(body: string, seq: number, kind = ''): JsonObject {
    const stored = bodyOf({ seq, kind, body }, this.#journal);
    return holdsSealed(body) ? this.openFact(stored, seq) : stored;
  }

  /**
   * A fact that this journal's key sealed outside of it, perhaps before anything sealed was recorded. Faults:
   * `damaged`.
   */
  openSpilled(stored: JsonObject): JsonObject {
    if (this.#mayCreate && holdsSealed(JSON.stringify(stored))) this.#need();
    return this.openFact(stored, 0);
  }

  openFact(stored: JsonObject, seq: number): JsonObject {
    const sealer = this.#opener();
    if (sealer === undefined) return stored;
    return mapPrivate(stored, [], (value, place) => {
      const opened = typeof value === 'string' ? unsealIfSealed(sealer, value, place) : value;
      if (opened !== undefined) return opened;
      throw new JournalFault('damaged', `the sealed value at ${place} does not open with the journal's key`, {
        seq,
        ...(this.#journal === undefined ? {} : { path: this.#journal }),
      });
    });
  }

  /**
   * A stored fact with every private value replaced by its placeholder. Works without the key, but then all look like
   * plain text.
   */
  redact(fact: JsonObject): JsonObject {
    return mapPrivate(fact, [], (value, place) => {
      // Not sealed: the journal was imported. The placeholder must not depend on the value, so it is derived from the
      // place.
      if (typeof value !== 'string' || !value.startsWith(SEALED_PREFIX)) return placeholderOf(value, digest(place));
      return placeholders(this.#opener()?.unseal(value, place), value, place);
    });
  }
}

export function holdsSealed(body: string): boolean {
  return body.includes(SEALED_IN_TEXT);
}

/** The data of a Secret, sealed as one: its keys are in the clear where they are few. Names in other values are not. */
const WHOLE_DATA = /^Secret\/[^/]*\/[^/]*:\/(?:data|stringData)$/;

/** Members of data that were sealed as one have a placeholder each. */
function placeholders(plain: Json | undefined, sealed: string, place: string): Json {
  if (!isObject(plain) || !WHOLE_DATA.test(place)) return placeholderOf(plain, digest(sealed));
  const members = Object.entries(plain).map(([key, value]) => [key, placeholderOf(value, digest(`${key}\n${sealed}`))]);
  return Object.fromEntries(members) as JsonObject;
}

function unsealIfSealed(sealer: Sealer, value: string, place: string): Json | undefined {
  return value.startsWith(SEALED_PREFIX) ? sealer.unseal(value, place) : value;
}

/** Derived from the sealed text, which tells nothing about the plaintext without the key. */
function digest(sealed: string): Buffer {
  return createHash('sha256').update('periplus-placeholder\n').update(sealed).digest();
}
