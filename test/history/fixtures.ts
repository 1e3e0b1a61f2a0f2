// The recorded samples as journals, for tests of what is asked of them.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importJournal } from '../../src/journal/import.ts';
import { linesOf } from '../../src/journal/lines.ts';

const FIXTURES = fileURLToPath(new URL('../../journal/fixtures', import.meta.url));

export type Sample = 'bookinfo-day' | 'subset-outage' | 'annotation-storm';

export interface Samples {
  /** `<folder>/<sample>.db` */
  readonly folder: string;
  path(sample: Sample): string;
  remove(): void;
}

/** Imports the samples into a folder of their own. */
export async function openSamples(...samples: readonly Sample[]): Promise<Samples> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-samples-'));
  const path = (sample: Sample): string => join(folder, `${sample}.db`);
  for (const sample of samples) {
    const input = createReadStream(join(FIXTURES, `${sample}.jsonl`), 'utf8');
    await importJournal(path(sample), linesOf(input), {
      durability: 'off',
    });
  }
  return { folder, path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
