// The test files that hold a folder: enough to notice a mistake in it, few enough that a run ends. A row is for the
// folders below it, too. Of a path that ends in `/` all test files below it.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Row {
  readonly tests: readonly string[];
  /** Folders of data that the tests read. */
  readonly data?: readonly string[];
  /** Tests tried for one mutant; absent: all that reach it. */
  readonly testsMax?: number;
  /** Expression for the golden cases that count; absent: all. */
  readonly goldens?: string;
  /** Titles with one of these texts are left out: tests of cost, which mutants make fail by chance, and of threads. */
  readonly without?: readonly string[];
}

export interface HeldBy {
  readonly tests: readonly string[];
  readonly data: readonly string[];
  readonly testsMax: number;
  /** Empty: nothing is left out. */
  readonly without: readonly string[];
  readonly goldens: string;
}

const GOLDENS = 'test/conformance/golden.test.ts';

/** What holds `select` and `generate`: a test of one resource or flag often reaches the code of others. */
const UNIT_TESTS = [
  'test/unit/core/select/',
  'test/unit/xds/generate/',
  'test/unit/xds/ambient/',
  'test/unit/xds/feature-flags.test.ts',
];

/** Of a folder of `select` or `generate`: the unit tests of all, `more` tests, and the golden cases of these groups. */
const resources = (
  type: string,
  goldens: string,
  more: readonly string[] = [],
  testsMax = 150,
): readonly (readonly [string, Row])[] =>
  (['src/core/select', 'src/xds/generate'] as const).map(floor => [
    `${floor}/${type}`,
    {
      tests: [...UNIT_TESTS, ...more, GOLDENS],
      data: ['test/conformance/golden'],
      goldens,
      testsMax,
    },
  ]);

const EVERY_RESOURCE: Row = {
  tests: [...UNIT_TESTS, GOLDENS],
  data: ['test/conformance/golden'],
  testsMax: 150,
};

const HELD_BY: Readonly<Record<string, Row>> = {
  'src/xds/push': { tests: ['test/unit/xds/push/schedule.test.ts', 'test/property/push-schedule.test.ts'] },
  'src/xds/session': {
    tests: ['test/unit/xds/session/', 'test/protocol/scenarios.test.ts'],
    data: ['test/protocol/scenarios'],
  },
  'src/core/handlers': { tests: ['test/unit/core/handlers/'], without: ['cost one slice'] },
  'src/core/registry': {
    tests: [
      'test/unit/core/registry/',
      'test/unit/core/handlers/multi-cluster-services.test.ts',
      'test/unit/core/wishes/entry-addresses.test.ts',
      'test/property/allocated-addresses.test.ts',
      GOLDENS,
    ],
    data: ['test/conformance/golden'],
    goldens: '^(registry|clusters)/',
  },
  'src/journal': {
    tests: ['test/unit/journal/'],
    testsMax: 60,
    without: [
      'a program that awaits close',
      'a dead writer thread',
      'delays callers above',
      'callers that do not wait',
    ],
  },
  ...Object.fromEntries([
    // Every test of routes, listeners and endpoints reaches the names and inputs of clusters.
    ...resources('cluster', '^(clusters/|ambient/|extensions/modules|rules/endpoints)', [], 400),
    ...resources('endpoint', '^(clusters|registry)/'),
    ...resources('listener', '^(listeners|gateways|policies|extensions|rules|ambient)/'),
    ...resources('route', '^(routes|gateways|gateway-api|rules|ambient)/'),
    ...resources('nametable', '^registry/'),
    ...resources('secret', '^rules/(unnamed|keys|certificates)'),
    ...resources('extension', '^extensions/'),
    ...resources('patch', '^patches/', [], 400),
    ...resources('policy', '^policies/'),
    // Every proxy has patches and telemetry: most tests reach both.
    ...resources('telemetry', '^extensions/telemetry', [], 400),
    ...resources('gateway', '^gateways/', ['test/unit/core/translate/gateway-api/corners.test.ts']),
    ...resources('scope', '^(listeners|rules)/'),
    ...resources('proxy', '^(listeners|extensions)/', ['test/unit/core/mesh/mesh-sources.test.ts']),
    ...resources('common', '^(clusters|extensions)/'),
    ...resources('workload', '^registry/', ['test/unit/xds/engine/on-demand.test.ts']),
    ...resources('api', '^registry/', ['test/property/envelope.test.ts']),
  ]),
  // For a sample of all at once; last, since the first row that fits counts.
  'src/core/select': EVERY_RESOURCE,
  'src/xds/generate': EVERY_RESOURCE,
};

export const folders: readonly string[] = Object.keys(HELD_BY);

/** All files by their path from `root`, sorted. */
export function heldBy(root: string, folder: string): HeldBy | undefined {
  const key = folders.find(name => folder === name || folder.startsWith(`${name}/`));
  const row = key === undefined ? undefined : HELD_BY[key];
  if (row === undefined) return undefined;
  const below = (path: string, end: string): readonly string[] =>
    !existsSync(join(root, path))
      ? []
      : readdirSync(join(root, path), { recursive: true, withFileTypes: true })
          .filter(entry => entry.isFile() && entry.name.endsWith(end))
          .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1))
          .sort();
  return {
    tests: row.tests.flatMap(path => (path.endsWith('/') ? below(path, '.test.ts') : [path])),
    data: (row.data ?? []).flatMap(path => below(path, '')),
    testsMax: row.testsMax ?? Number.MAX_SAFE_INTEGER,
    without: row.without ?? [],
    goldens: row.goldens ?? '',
  };
}
