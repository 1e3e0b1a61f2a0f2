// Sealing: private values are encrypted before they are stored and hashed, deterministically, so that an unchanged
// Secret gives an unchanged fact and the chain can be verified without the key.
//
// AES-256-GCM with a synthetic IV: the IV is an HMAC of the plaintext and its place under a second subkey, so one IV
// never serves two plaintexts. What a reader without the key learns: lengths, and whether one field of one object held
// the same value twice.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Json } from '../core/base/json.ts';
import { canonicalJson } from '../core/base/json.ts';
import { errorCode, errorText, JournalFault } from './fault.ts';
import { SEALED_PREFIX } from './private-values.ts';

export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_FILE_MAGIC = 'periplus-journal-key-v1';
const KEY_FILE_MODE = 0o600;

export interface Sealer {
  /** Tells which key this is without telling anything about it. Hex. */
  readonly check: string;
  /** `place`: where the value stands; unsealing at another place fails. `text`: canonical JSON of the value. */
  seal(value: Json, place: string, text?: string): string;
  /** Undefined: not sealed with this key at this place, or damaged. */
  unseal(sealed: string, place: string): Json | undefined;
}

export function sealerOf(master: Buffer): Sealer {
  const encryption = subkey(master, 'encryption');
  const synthetic = subkey(master, 'synthetic-iv');
  return {
    check: createHmac('sha256', subkey(master, 'check')).update('periplus-journal').digest('hex').slice(0, 32),
    seal: (value, place, text = canonicalJson(value)) => {
      const plain = Buffer.from(text, 'utf8');
      const iv = syntheticIv(synthetic, plain, place);
      const cipher = createCipheriv('aes-256-gcm', encryption, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return SEALED_PREFIX + sealed.toString('base64');
    },
    unseal: (sealed, place) => {
      const bytes = Buffer.from(sealed.slice(SEALED_PREFIX.length), 'base64');
      if (!sealed.startsWith(SEALED_PREFIX) || bytes.length < IV_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', encryption, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const plain = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
        return JSON.parse(plain.toString()) as Json;
      } catch {
        return undefined;
      }
    },
  };
}

export function randomKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** Undefined: there is no such file. Faults: `cannot-open`, `wrong-key` (not a key file). */
export function readKeyFile(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new JournalFault('cannot-open', `the key file cannot be read (${errorText(error)})`, { path });
  }
  const [magic, encoded, ...rest] = text.trim().split(/\s+/);
  const key = Buffer.from(encoded ?? '', 'base64');
  if (magic !== KEY_FILE_MAGIC || key.length !== KEY_BYTES || rest.length > 0) {
    throw new JournalFault(
      'wrong-key',
      `not a journal key: expected one line "${KEY_FILE_MAGIC}" and ${KEY_BYTES} bytes in base64; give the key file this journal was sealed with`,
      { path },
    );
  }
  return key;
}

/**
 * Writes a new random key, whole or not at all, never over an existing one; the key that is there afterwards is
 * returned.
 */
export function createKeyFile(path: string): Buffer {
  const key = randomKey();
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const file = openSync(draft, 'wx', KEY_FILE_MODE);
    try {
      writeSync(file, `${KEY_FILE_MAGIC} ${key.toString('base64')}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(draft, path);
    } finally {
      unlinkSync(draft);
    }
    const directory = openSync(dirname(path), 'r');
    fsyncSync(directory);
    closeSync(directory);
    return key;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') {
      const existing = readKeyFile(path);
      if (existing !== undefined) return existing;
    }
    throw new JournalFault(
      'cannot-open',
      `the key file for sealing private values cannot be created (${errorText(error)}); make its directory writable or give another key file`,
      { path },
    );
  }
}

function subkey(master: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', master, 'periplus-journal-v1', use, KEY_BYTES));
}

function syntheticIv(key: Buffer, plain: Buffer, place: string): Buffer {
  const placeBytes = Buffer.from(place);
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(placeBytes.length);
  return createHmac('sha256', key).update(length).update(placeBytes).update(plain).digest().subarray(0, IV_BYTES);
}
