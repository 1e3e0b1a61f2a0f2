// Messages in slices on a stream whose callbacks the test calls.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SLICE_BYTES, SlicedWrites } from '../../../../src/xds/grpc/sliced-writes.ts';

type Done = (error?: Error | null) => void;

/** Calls back when the test says so; `error` fails every write that was not taken. */
class FakeStream {
  writable = true;
  readonly written: Buffer[] = [];
  readonly #pending: Done[] = [];

  write(bytes: Uint8Array, done?: Done): boolean {
    this.written.push(Buffer.from(bytes));
    if (done !== undefined) this.#pending.push(done);
    return true;
  }
  cork(): void {}
  uncork(): void {}

  get pending(): number {
    return this.#pending.length;
  }
  take(): void {
    this.#pending.shift()?.();
  }
  takeAll(): void {
    while (this.pending > 0) this.take();
  }
  fail(error: Error): void {
    this.writable = false;
    for (const done of this.#pending.splice(0)) done(error);
  }
  get bytes(): Buffer {
    return Buffer.concat(this.written);
  }
}

const filled = (length: number, byte: number): Buffer => Buffer.alloc(length, byte);

describe('SlicedWrites', () => {
  it('hands over the next slice when the one before it is taken', () => {
    const stream = new FakeStream();
    new SlicedWrites(stream).add([filled(2.5 * SLICE_BYTES, 1)], () => undefined);
    expect(stream.bytes.length).toBe(SLICE_BYTES);
    stream.take();
    expect(stream.bytes.length).toBe(2 * SLICE_BYTES);
    stream.take();
    expect(stream.bytes.length).toBe(2.5 * SLICE_BYTES);
  });

  it('writes all messages in order and calls each back once, whatever their pieces', () => {
    const message = fc.array(fc.nat({ max: 3 * SLICE_BYTES }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 4 }), fc.nat({ max: 3 }), (messages, flushAfter) => {
        const stream = new FakeStream();
        const writes = new SlicedWrites(stream);
        const done: number[] = [];
        const sent = messages.map((sizes, index) => sizes.map((size, piece) => filled(size, 16 * index + piece)));
        sent.forEach((pieces, index) => {
          writes.add(pieces, () => done.push(index));
          if (index === flushAfter) writes.flush();
          stream.take();
        });
        stream.takeAll();
        expect(writes.isBusy).toBe(false);
        expect(done).toEqual(messages.map((_, index) => index));
        expect(stream.bytes.equals(Buffer.concat(sent.flat()))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('flushes what is left of all messages at once', () => {
    const stream = new FakeStream();
    const writes = new SlicedWrites(stream);
    writes.add([filled(4 * SLICE_BYTES, 1)], () => undefined);
    writes.add([filled(10, 2)], () => undefined);
    writes.flush();
    expect(writes.isBusy).toBe(false);
    expect(stream.bytes.length).toBe(4 * SLICE_BYTES + 10);
  });

  it('tells every message that waits when the stream fails, and writes nothing more', () => {
    const stream = new FakeStream();
    const writes = new SlicedWrites(stream);
    const heard: string[] = [];
    writes.add([filled(3 * SLICE_BYTES, 1)], error => heard.push(`first: ${error?.message ?? 'taken'}`));
    writes.add([filled(10, 2)], error => heard.push(`second: ${error?.message ?? 'taken'}`));
    stream.fail(new Error('reset'));
    expect(heard).toEqual(['first: reset', 'second: reset']);
    expect(stream.bytes.length).toBe(SLICE_BYTES);
    writes.flush();
    expect(stream.bytes.length).toBe(SLICE_BYTES);
  });
});
