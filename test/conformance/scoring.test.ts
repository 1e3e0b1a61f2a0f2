// The record may only rise, and a fall is seen. The scoring itself needs the vectors and is in the end-to-end tests.

import { describe, expect, it } from 'vitest';
import { type ConformanceRecord, fallen, type GroupScore, raised, readRecord } from './scoring.ts';

const row = (group: string, passing: number): GroupScore => ({
  group,
  cases: 9,
  passing,
  files: 9,
  filesPassing: 9,
  skipped: 0,
});
const record: ConformanceRecord = { skipKinds: ['Telemetry'], passing: { dns: 5, sidecar: 3 } };

describe('the record of conformance', () => {
  it('notices a group that has fallen, and no other', () => {
    expect(fallen([row('dns', 4), row('sidecar', 3), row('new', 0)], record)).toEqual([
      'dns: 4 cases pass; 5 are recorded',
    ]);
  });

  it('rises, and never falls', () => {
    const after = raised([row('sidecar', 7), row('dns', 1), row('authz', 2)], record);
    expect(after).toEqual({ skipKinds: ['Telemetry'], passing: { authz: 2, dns: 5, sidecar: 7 } });
    expect(Object.keys(after.passing)).toEqual(['authz', 'dns', 'sidecar']);
  });

  it('is formatted for readers', () => {
    const { passing } = readRecord();
    expect(Object.keys(passing).length).toBeGreaterThan(0);
    for (const count of Object.values(passing)) expect(count).toBeGreaterThan(0);
  });
});
