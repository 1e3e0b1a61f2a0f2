// Runs every file of scenarios/. The rows named in them are those of the reference's decision tables for requests: 6.1 state of the
// world, 6.2 delta; each row has to be named by at least one scenario.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScenario } from './scenario.ts';

const folder = fileURLToPath(new URL('./scenarios', import.meta.url));
const files = readdirSync(folder)
  .filter(name => name.endsWith('.txt'))
  .sort();

describe('protocol scenarios', () => {
  for (const file of files) {
    test(file, () => {
      expect(runScenario(readFileSync(folder + file, 'utf8'))).toEqual([]);
    });
  }

  test('every row of the decision tables has a scenario', () => {
    const named = new Set<string>();
    for (const file of files) {
      for (const [row] of readFileSync(folder + file, 'utf8').matchAll(/6\.[12]\/[0-9]+[a-d]?/g)) named.add(row);
    }
    const rows = ['1', '2', '3', '4', '5', '6', '7a', '7b', '7c', '7d'].map(row => `6.1/${row}`);
    rows.push(...['1', '2', '3', '4', '5', '6'].map(row => `6.2/${row}`));
    expect(rows.filter(row => !named.has(row))).toEqual([]);
  });

  test('canary: a wrong expectation is noticed', () => {
    const text = 'protocol sotw\nset CDS a=1\n> CDS names\n< subscribed CDS wildcard\n< CDS a=2\n';
    expect(runScenario(text)).toHaveLength(1);
  });
});
