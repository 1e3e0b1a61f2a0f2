// The guides say what commands print, and it is so: every command of docs/guides/tour.md is run, in order, and its
// output compared with the text. `PERIPLUS_UPDATE_GOLDENS=1` puts what was printed into the guide.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDE = join(ROOT, 'docs/guides/tour.md');
const BLOCK = /```console\n([\s\S]*?)```/g;
const COMMAND = '$ npx periplus ';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples();
});
afterAll(() => samples.remove());

/** Words as a shell splits them, as far as the guide quotes. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

async function printed(command: string): Promise<string> {
  const here = (word: string): string =>
    word === 'outage.db' ? join(samples.folder, word) : /^(journal|docs)\//.test(word) ? join(ROOT, word) : word;
  const { out, err } = await periplus(...words(command).map(here));
  expect(err).toBe('');
  return out.replaceAll(`${samples.folder}/`, '').replaceAll(`${ROOT}/`, '');
}

test('tour: every command prints what the guide shows', async () => {
  const guide = readFileSync(GUIDE, 'utf8');
  const blocks = [...guide.matchAll(BLOCK)].map(([, body = '']) => body);
  expect(blocks.length).toBeGreaterThan(8);
  let made = guide;
  const wrong: { readonly command: string; readonly said: string; readonly is: string }[] = [];
  for (const body of blocks) {
    const [first = '', ...said] = body.split('\n');
    expect(first.startsWith(COMMAND)).toBe(true);
    const is = await printed(first.slice(COMMAND.length));
    if (is !== said.join('\n')) wrong.push({ command: first, said: said.join('\n'), is });
    made = made.replace(`\`\`\`console\n${body}\`\`\``, () => `\`\`\`console\n${first}\n${is}\`\`\``);
  }
  if (process.env.PERIPLUS_UPDATE_GOLDENS === '1') writeFileSync(GUIDE, made);
  else expect(wrong).toEqual([]);
});
