import { describe, expect, it } from 'vitest';
import { REMEMBERED_BYTES_MIN, RequestMemo } from '../../../../src/xds/grpc/request-memo.ts';

interface Message {
  readonly text: string;
}

function memo(bytesMax?: number): { readonly memo: RequestMemo<Message>; readonly decoded: string[] } {
  const decoded: string[] = [];
  const decode = (bytes: Buffer): Message => {
    const text = bytes.toString();
    if (text.startsWith('bad')) throw new Error('bad');
    decoded.push(text);
    return { text };
  };
  return { memo: new RequestMemo(decode, ({ text }) => !text.startsWith('own'), bytesMax), decoded };
}

const large = (text: string): Buffer => Buffer.from(text.padEnd(REMEMBERED_BYTES_MIN, '.'));

describe('repeated requests', () => {
  it('are decoded once and not confused with others', () => {
    const { memo: made, decoded } = memo();
    const first = made.read(large('a'));
    expect(made.read(large('a'))).toBe(first);
    expect(made.read(large('b'))).toEqual({ text: large('b').toString() });
    expect(made.read(large('b'))).not.toBe(first);
    expect(decoded).toHaveLength(2);
    expect(made.hits).toBe(2);
  });

  it('are kept even if the buffer changes later', () => {
    const { memo: made } = memo();
    const bytes = large('a');
    made.read(bytes);
    bytes.fill('x');
    expect(made.read(large('a')).text).toBe(large('a').toString());
    expect(made.read(bytes).text).toBe(bytes.toString());
  });

  it("are decoded each time if they are small, have one client's node, or are malformed", () => {
    const { memo: made, decoded } = memo();
    for (const bytes of [Buffer.from('small'), large('own')]) for (let i = 0; i < 2; i++) made.read(bytes);
    expect(decoded).toHaveLength(4);
    for (let i = 0; i < 2; i++) expect(() => made.read(large('bad'))).toThrow('bad');
    expect(made.bytes).toBe(0);
  });

  it('are dropped past a number of bytes, least recently seen first', () => {
    const { memo: made, decoded } = memo(2 * REMEMBERED_BYTES_MIN + 100);
    const [a, b, c] = ['a', 'b', 'c'].map((text, i) => Buffer.concat([large(text), Buffer.alloc(i)]));
    made.read(a!);
    made.read(b!);
    made.read(a!);
    made.read(c!);
    expect(made.bytes).toBeLessThanOrEqual(2 * REMEMBERED_BYTES_MIN + 100);
    made.read(a!);
    expect(decoded).toHaveLength(3);
    made.read(b!);
    expect(decoded).toHaveLength(4);
  });
});
