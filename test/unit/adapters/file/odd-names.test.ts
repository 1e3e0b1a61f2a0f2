// Names of files that are no text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scanFolder } from '../../../../src/adapters/file/scan.ts';

it('a file whose name is not UTF-8 cannot be looked at, and does not count as gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-names-'));
  try {
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff]), Buffer.from('.yaml')]), 'a: 1\n');
    writeFileSync(join(folder, '\ufffd is text.yaml'), 'a: 1\n');
    const { files, hidden, vanished } = await scanFolder(folder);
    expect(hidden).toEqual([{ path: join(folder, '\ufffd.yaml'), why: 'has a name that is not UTF-8' }]);
    expect(files.map(({ path }) => path)).toEqual([join(folder, '\ufffd is text.yaml')]);
    expect(vanished).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
