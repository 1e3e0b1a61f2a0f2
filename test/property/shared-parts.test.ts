// Bytes in parts are the bytes, whatever previous version they were compared with, and little is kept of that.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PARTS_MAX, sharedParts } from '../../src/xds/engine/shared-parts.ts';
import { parameters } from './seed.ts';

const RUNS = 100;
const KB = 1_024;

/** A pattern again and again, so that repeated bytes occur at the edges of what is shared. */
const content = fc
  .record({ kilobytes: fc.integer({ min: 0, max: 200 }), pattern: fc.uint8Array({ minLength: 1, maxLength: 2_000 }) })
  .map(({ kilobytes, pattern }) => Buffer.alloc(kilobytes * KB, pattern));

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly inserted: Uint8Array;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 5_000 }),
  inserted: fc.uint8Array({ maxLength: 300, size: 'max' }),
});

function edited(bytes: Buffer, { at, removed, inserted }: Edit): Buffer {
  const start = Math.floor(at * bytes.length);
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
}

const buffersOf = (parts: readonly Buffer[]): ReadonlySet<ArrayBufferLike> =>
  new Set(parts.map(({ buffer }) => buffer));

describe('the bytes of a large resource', () => {
  test('are those of its parts, after any edits', () => {
    fc.assert(
      fc.property(content, fc.array(edit, { maxLength: 30, size: 'max' }), (first, edits) => {
        let bytes: Buffer = first;
        let parts = sharedParts(bytes, []);
        for (const one of edits) {
          bytes = edited(bytes, one);
          // The sink is overwritten by the next message.
          const sink = Buffer.from(bytes);
          parts = sharedParts(sink, parts);
          sink.fill(0xff);
          expect(Buffer.concat(parts).equals(bytes)).toBe(true);
          expect(parts.length).toBeLessThanOrEqual(PARTS_MAX);
          const kept = [...buffersOf(parts)].reduce((sum, { byteLength }) => sum + byteLength, 0);
          expect(kept).toBeLessThanOrEqual(4 * bytes.length + 64 * KB);
        }
      }),
      parameters(RUNS),
    );
  });

  test('are those of its parts, with an unrelated previous version', () => {
    fc.assert(
      fc.property(content, content, (bytes, other) => {
        expect(Buffer.concat(sharedParts(bytes, [other])).equals(bytes)).toBe(true);
      }),
      parameters(RUNS),
    );
  });

  test('are shared but for an edit, wherever it is', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        (at, inserted) => {
          const before = Buffer.alloc(
            300 * KB,
            Uint8Array.from({ length: 251 }, (_, i) => (i * 31) % 251),
          );
          const old = sharedParts(before, []);
          const parts = sharedParts(edited(before, { at, removed: 10, inserted }), old);
          const anew = parts.filter(({ buffer }) => buffer !== old[0]!.buffer);
          expect(anew.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(17 * KB);
        },
      ),
      parameters(RUNS),
    );
  });

  test('are one part again when many places have changed', () => {
    let bytes: Buffer = Buffer.alloc(1_000 * KB, 'abcdefg');
    let parts = sharedParts(bytes, []);
    const counts = Array.from({ length: 20 }, (_, i) => {
      bytes = edited(bytes, { at: ((i * 7) % 20) / 20 + 0.02, removed: 0, inserted: Buffer.from('!') });
      parts = sharedParts(bytes, parts);
      return parts.length;
    });
    expect(Math.max(...counts)).toBe(PARTS_MAX);
    expect(counts).toContain(1);
  });
});
