import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { PARSED_CHARS_AT_ONCE } from '../../../../src/adapters/kube/heard.ts';
import { listIn } from '../../../../src/adapters/kube/list-text.ts';
import type { Json } from '../../../../src/core/base/json.ts';

/** The text in chunks that end at `cuts`, in parts of its length. */
async function* chunksOf(text: string, cuts: readonly number[] = []): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const ends = [...cuts.map(cut => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length];
  for (const [i, end] of ends.entries()) yield bytes.subarray(ends[i - 1] ?? 0, end);
}

/** Names and texts that look like the structure around them. */
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('items', '"items":[', '\\', '\\"', '[', ']', '{', '}', ',', '"items" : [{}]', 'é😀'),
);
const { json } = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom(null, true, 1.5),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(text, tie('json'), { maxKeys: 4 }),
  ),
}));
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });
const indent = fc.constantFrom(0, 2, '\t', ' \n');
const list = fc.tuple(
  fc.dictionary(text, json, { maxKeys: 3 }),
  fc.array(json),
  fc.dictionary(text, json, { maxKeys: 3 }),
);

describe('the text of a list', () => {
  it('is parsed as JSON.parse does, however it is cut', async () => {
    const answers = fc.oneof(
      list.map(([before, items, after]): Json => ({ ...before, items, ...after })),
      json,
    );
    await fc.assert(
      fc.asyncProperty(answers, indent, cuts, async (answer, space, ends) => {
        const written = JSON.stringify(answer, undefined, space);
        expect(await listIn(chunksOf(written, ends))).toEqual(JSON.parse(written));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused if JSON.parse refuses it, wherever it is cut off or damaged', async () => {
    const written = JSON.stringify({ kind: 'PodList', items: [{ a: [1, { b: '}' }] }, {}, 'x'], metadata: {} });
    const damaged = [...written].flatMap((_, i) =>
      ['', ',', ']', '}', '[', '{', '"'].map(put => written.slice(0, i) + put + written.slice(i + 1)),
    );
    const cut = [...written].map((_, i) => written.slice(0, i));
    for (const one of [...damaged, ...cut, '', '{"items":[,{}]}', '{"items":[{},]}', '{"items":[{}}]}']) {
      const expected = parsed(one);
      if (expected === undefined) await expect(listIn(chunksOf(one)), one).rejects.toThrow(SyntaxError);
      else expect(await listIn(chunksOf(one)), one).toEqual(expected);
    }
  });

  it('leaves turns of the event loop to others between large items', async () => {
    const items = [1, 2, 3].map(name => ({ name, data: 'x'.repeat(PARSED_CHARS_AT_ONCE) }));
    const order: string[] = [];
    const { parse } = JSON;
    const read = vi.spyOn(JSON, 'parse').mockImplementation((one: string): unknown => {
      order.push(one.length > PARSED_CHARS_AT_ONCE ? 'parsed' : 'around');
      setTimeout(() => order.push('timer'), 0);
      for (const start = performance.now(); performance.now() < start + 3; );
      return parse(one);
    });
    await listIn(chunksOf(JSON.stringify({ kind: 'SecretList', items })));
    read.mockRestore();
    expect(order).toEqual(['parsed', 'timer', 'parsed', 'timer', 'parsed', 'timer', 'around']);
  });
});

function parsed(one: string): Json | undefined {
  try {
    return JSON.parse(one) as Json;
  } catch {
    return undefined;
  }
}
