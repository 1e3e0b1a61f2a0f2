// The code in a guide is a test that runs: the block and the file of the guide's name are the same but for the paths of
// imports.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What a reader would import. */
const ENTRIES: Readonly<Record<string, string>> = {
  "'../../src/index.ts'": "'periplus'",
  "'../../src/adapters/main.ts'": "'periplus/adapter'",
  "'../../src/journal/main.ts'": "'periplus/journal'",
  "'../../src/history/main.ts'": "'periplus/history'",
  "'../../src/oracle-entry.ts'": "'periplus/oracle'",
  "'../../src/testing/main.ts'": "'periplus/testing'",
};

describe('the guides', () => {
  it.each(readdirSync(import.meta.dirname).filter(file => file !== basename(import.meta.filename)))(
    'show the code of %s',
    file => {
      let code = readFileSync(join(import.meta.dirname, file), 'utf8');
      for (const [path, entry] of Object.entries(ENTRIES)) code = code.replace(path, entry);
      const guide = readFileSync(join(root, 'docs/guides', file.replace('.test.ts', '.md')), 'utf8');
      const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(match => match[1]);
      expect(blocks).toContain(code);
    },
  );
});
