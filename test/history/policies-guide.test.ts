// The commands of docs/guides/policies.md, run on the file that the guide shows; the answers are those that it notes.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { periplus } from './running.ts';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/policies.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(match => match[1]!);

const folder = mkdtempSync(join(tmpdir(), 'periplus-guide-'));
const mesh = join(folder, 'mesh.yaml');
writeFileSync(mesh, blocks('yaml').join('---\n'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const commands = blocks('sh').flatMap(block => block.split('\n').filter(line => line.startsWith('periplus ')));

test.each(commands)('%s', async line => {
  const [command = '', answer] = line.split(/ +# /);
  const words = command.replace('mesh.yaml', mesh).split(' ').slice(1);
  const { code, out, err } = await periplus(...words);
  expect(err).toBe('');
  if (answer === undefined) expect([code, out.includes('readers.shop')]).toEqual([0, true]);
  else expect([code, out.split(':')[0]]).toEqual([answer === 'yes' ? 0 : 1, answer]);
});

test('the guide has commands', () => {
  expect(commands.length).toBeGreaterThan(5);
});
