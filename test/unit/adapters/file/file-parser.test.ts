// Parsing that cannot hold up the event loop: what goes to the thread comes back as if parsed at once, and what goes
// past the budget is refused.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { FileParser, INLINE_BYTES_MAX, INLINE_PLAIN_BYTES_MAX } from '../../../../src/adapters/file/file-parser.ts';
import { parseFile } from '../../../../src/adapters/file/parse.ts';
import { WIDE_MIN } from '../../../../src/core/base/keys.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const service = (i: number): string =>
  `apiVersion: v1\nkind: Service\nmetadata:\n  name: s${i}\n  namespace: {n}\nspec:\n  ports: [{port: ${i}}]\n`;
const services = (count: number): Uint8Array =>
  encode(Array.from({ length: count }, (_, i) => service(i).replace('{n}', '"a"')).join('---\n'));

let parser: FileParser | undefined;
afterEach(() => parser?.close());

/** The longest time for which nothing else came to its turn. */
async function longestTurnMs<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly cpuMs: number }> {
  let cpuMs = 0;
  let before = process.cpuUsage();
  const ticks = setInterval(() => {
    before = process.cpuUsage();
  }, 1);
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  cpuMs = (user + system) / 1_000;
  clearInterval(ticks);
  return { result, cpuMs };
}

describe('the parser thread', () => {
  it('gives the objects, places and problems of parsing in place', async () => {
    parser = new FileParser();
    const bytes = services(2_000);
    expect(bytes.length).toBeGreaterThan(INLINE_PLAIN_BYTES_MAX);
    expect(await parser.parse('a.yaml', bytes)).toEqual(parseFile('a.yaml', bytes));
    const wrong = encode(`${new TextDecoder().decode(services(100))}---\nkind: [\n---\nkind: x\n`);
    expect(wrong.length).toBeGreaterThan(INLINE_BYTES_MAX);
    expect(await parser.parse('a.yaml', wrong)).toEqual(parseFile('a.yaml', wrong));
  });

  it('gives the members of wide objects in order, those of others as they stand in the file', async () => {
    parser = new FileParser();
    const labels = Object.fromEntries(Array.from({ length: WIDE_MIN }, (_, i) => [`k${i}`, 'x'.repeat(60)]));
    const text = `{"kind":"Service","apiVersion":"v1","metadata":{"name":"a","labels":${JSON.stringify(labels)}}}`;
    const { objects } = await parser.parse('a.yaml', encode(text));
    expect(objects[0]!.object).toEqual(JSON.parse(text));
    expect(Object.keys(objects[0]!.object)).toEqual(['kind', 'apiVersion', 'metadata']);
    const { metadata } = objects[0]!.object as { readonly metadata: { readonly labels: object } };
    expect(Object.keys(metadata.labels)).toEqual(Object.keys(labels).sort());
  });

  it('lets timers that are due run between the parts of its answer, and before the use of the last', async () => {
    parser = new FileParser();
    const bytes = services(2_000);
    const order: string[] = [];
    const { parse } = JSON;
    const read = vi.spyOn(JSON, 'parse').mockImplementation((text: string): unknown => {
      if (text.length <= INLINE_BYTES_MAX) return parse(text);
      order.push('read');
      setTimeout(() => order.push('timer'), 0);
      // Long enough for the timer to be due.
      for (const start = performance.now(); performance.now() < start + 3; );
      return parse(text);
    });
    await parser.parse('a.yaml', bytes);
    order.push('used');
    read.mockRestore();
    expect(order).toEqual(['read', 'timer', 'read', 'timer', 'used']);
  });

  it('refuses a text that exceeds its time, and parses the next one', async () => {
    parser = new FileParser({ ms: chars => (chars > 500_000 ? 1 : 60_000), heapMiB: 512 });
    const slow = parser.parse('slow.yaml', services(10_000));
    const next = parser.parse('next.yaml', services(100));
    expect(await slow).toMatchObject({
      objects: [],
      complete: false,
      malformed: [{ origin: { file: 'slow.yaml' }, reason: 'takes longer than 1 s to parse' }],
    });
    expect((await next).objects).toHaveLength(100);
  });

  it('refuses a text that exceeds its memory, and parses the next one', async () => {
    parser = new FileParser({ ms: () => 60_000, heapMiB: 48 });
    const large = parser.parse('large.yaml', encode(`a: [${'[1], '.repeat(400_000)}]`));
    expect((await large).malformed[0]?.reason).toMatch(/more than 48 MiB/);
    expect((await parser.parse('next.yaml', services(100))).objects).toHaveLength(100);
  });

  it('parses mesh configuration, and finds places as for a small file', async () => {
    parser = new FileParser();
    const filler = `# ${'x'.repeat(INLINE_BYTES_MAX)}\n`;
    expect(await parser.documents('m.yaml', `${filler}a: {b: 1}\n`)).toMatchObject({
      documents: [{ value: { a: { b: 1 } }, origin: { line: 2, column: 1 } }],
    });
    expect(await parser.locate(`${filler}---\na: {b: 1}\n`, [{ line: 3, path: 'a.b' }])).toEqual([
      { line: 3, column: 5 },
    ]);
    expect(await parser.locate(`${filler}a: 1\n`, [{ line: 1, path: 'a' }])).toEqual([undefined]);
  });

  it('is refused once it is closed', async () => {
    parser = new FileParser();
    const running = parser.parse('a.yaml', services(5_000));
    await parser.close();
    expect((await running).malformed[0]?.reason).toBe('the program is stopping');
    expect((await parser.parse('a.yaml', services(5_000))).complete).toBe(false);
  });
});

describe('parsing in place', () => {
  const lists = (count: number, head: string): string => `${head}${'- a:\n  -\n'.repeat(count)}`;
  const texts: readonly (readonly [string, string])[] = [
    ['a full text', lists(INLINE_BYTES_MAX / 10, '"a":\n')],
    ['mistakes', ','.repeat(INLINE_BYTES_MAX).replace(',', '[')],
    ['documents', '---\na\n'.repeat(INLINE_BYTES_MAX / 6)],
    ['a plain text', 'a:\n- b\n'.repeat(1) + '- a: 1\n'.repeat(INLINE_PLAIN_BYTES_MAX / 7 - 8)],
  ];

  it.each(texts)('takes less than 50 ms of processor time for %s', async (_name, text) => {
    parser = new FileParser();
    const once = async (): Promise<number> => (await longestTurnMs(() => parser!.parse('f', encode(text)))).cpuMs;
    // The least of several: the first compile what the others run, and the machine has other work.
    const times: number[] = [];
    for (let i = 0; i < 12; i++) times.push(await once());
    expect(Math.min(...times)).toBeLessThan(50);
  });
});

describe('a Helm template', () => {
  it('is reported once, not for each line', () => {
    const text =
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Values.name }}\n  {{- with .x }}\n  labels: {{ . }}\n  {{- end }}\n';
    const { malformed, objects } = parseFile('t.yaml', Buffer.from(text));
    expect([objects, malformed.map(({ reason }) => reason)]).toEqual([
      [],
      [expect.stringMatching(/^looks like a Helm template .* helm template CHART \| periplus analyze -f -$/)],
    ]);
  });
  it('is not seen in YAML that holds braces', () => {
    const { malformed, objects } = parseFile(
      't.yaml',
      Buffer.from('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {t: "{{ .Values.x }}"}\n'),
    );
    expect([malformed, objects.length]).toEqual([[], 1]);
  });
});
