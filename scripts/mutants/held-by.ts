// The test files that hold a folder: enough to notice a mistake in it, few enough that a run ends. A row is for the
// folders below it, too. Of a path that ends in `/` all test files below it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Row {
  readonly tests: readonly string[];
  /** Folders of data that the tests read. */
  readonly data?: readonly string[];
  /** Tests tried for one mutant; absent: all that reach it. */
  readonly testsMax?: number;
}

export interface HeldBy {
  readonly tests: readonly string[];
  readonly data: readonly string[];
  readonly testsMax: number;
}

const resources: Row = {
  tests: [
    'test/unit/core/select/',
    'test/unit/xds/generate/',
    'test/conformance/golden.test.ts',
    'test/unit/xds/feature-flags.test.ts',
    'test/unit/offline/patch-verdicts.test.ts',
    'test/conformance/authorization-goldens.test.ts',
  ],
  data: ['test/conformance/golden'],
  testsMax: 40,
};

const HELD_BY: Readonly<Record<string, Row>> = {
  'src/xds/push': { tests: ['test/unit/xds/push/schedule.test.ts', 'test/property/push-schedule.test.ts'] },
  'src/xds/session': {
    tests: ['test/unit/xds/session/', 'test/protocol/scenarios.test.ts'],
    data: ['test/protocol/scenarios'],
  },
  'src/core/handlers': { tests: ['test/unit/core/handlers/'] },
  'src/core/registry': {
    tests: ['test/unit/core/registry/', 'test/property/allocated-addresses.test.ts', 'test/conformance/golden.test.ts'],
    data: ['test/conformance/golden'],
    testsMax: 60,
  },
  'src/journal': { tests: ['test/unit/journal/', 'test/property/envelope.test.ts'] },
  'src/core/select': resources,
  'src/xds/generate': resources,
};

export const folders: readonly string[] = Object.keys(HELD_BY);

/** All files by their path from `root`, sorted. */
export function heldBy(root: string, folder: string): HeldBy | undefined {
  const key = folders.find(name => folder === name || folder.startsWith(`${name}/`));
  const row = key === undefined ? undefined : HELD_BY[key];
  if (row === undefined) return undefined;
  const below = (path: string, end: string): readonly string[] =>
    readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name.endsWith(end))
      .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
      .sort();
  return {
    tests: row.tests.flatMap(path => (path.endsWith('/') ? below(path, '.test.ts') : [path])),
    data: (row.data ?? []).flatMap(path => below(path, '')),
    testsMax: row.testsMax ?? Number.MAX_SAFE_INTEGER,
  };
}
