// Group by group, no fewer cases come out as istiod's than conformance.json says. Needs the vectors beside the project,
// and Python.

import { beforeAll, describe, expect, it } from 'vitest';
import { fallen, readRecord, type Score, score } from '../conformance/scoring.ts';
import { findVectors } from '../conformance/vectors.ts';
import { canRun } from './suite.ts';

const vectors = findVectors();
const runs = canRun('test/e2e/conformance.test.ts', 'missing' in vectors ? vectors.missing : undefined);
const record = readRecord();

describe.runIf(runs)('conformance with istiod', () => {
  let result: Score;

  beforeAll(async () => {
    if ('missing' in vectors) return;
    result = await score(vectors, { groups: [], skipKinds: record.skipKinds, show: 1_000 });
  });

  it.each(Object.keys(record.passing))('passes no fewer cases of %s than recorded', group => {
    const row = result.groups.find(one => one.group === group);
    const differences = result.differences.filter(line => line.startsWith(`${group}/`));
    expect(row?.cases, `the vectors have no ${group}`).toBeGreaterThan(0);
    expect(fallen(row === undefined ? [] : [row], record), differences.join('\n')).toEqual([]);
  });

  it('generates something for every case', () => {
    expect(result.failures).toEqual([]);
  });
});
