// The page as it is shipped: small, whole, and fit for a content security policy without unsafe-inline and
// unsafe-eval.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const COMPRESSED_BYTES_MAX = 400_000;
const builder = join(ROOT, 'scripts/build-ui.mjs');

describe("the explorer's bundle", () => {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-ui-'));
  const text = (file: string): string => readFileSync(join(folder, file), 'utf8');
  beforeAll(async () => {
    const { buildUi } = (await import(builder)) as { readonly buildUi: (out: string) => void };
    buildUi(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it(`is smaller than ${COMPRESSED_BYTES_MAX} bytes, compressed`, () => {
    const sizes = readdirSync(folder).map(file => gzipSync(readFileSync(join(folder, file))).byteLength);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(COMPRESSED_BYTES_MAX);
    expect(gzipSync(readFileSync(join(folder, 'app.js'))).byteLength).toBeGreaterThan(10_000);
  });

  it('has nothing inline, and asks no other server', () => {
    const page = text('index.html');
    expect(page.match(/<script(?![^>]*\ssrc=)/g)).toBeNull();
    expect(page.match(/<style|\sstyle=|\son[a-z]+=/g)).toBeNull();
    expect(`${page}${text('app.css')}`.match(/https?:|url\(|@import/g)).toBeNull();
    expect([...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1]!).sort()).toEqual([
      'app.css',
      'app.js',
      'icon.svg',
    ]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['app.css', 'app.js', 'icon.svg', 'index.html']));
  });

  it('makes no code of text, and no markup of what a mesh says', () => {
    expect(text('app.js').match(/\beval\(|\bnew Function\b/g)).toBeNull();
    const sources = readdirSync(join(ROOT, 'ui'), { recursive: true, encoding: 'utf8' }).filter(file =>
      /\.tsx?$/.test(file),
    );
    const found = sources.filter(file =>
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser/.test(
        readFileSync(join(ROOT, 'ui', file), 'utf8'),
      ),
    );
    expect(found).toEqual([]);
  });
});
