// A snapshot from elsewhere, whose hashes are right and whose facts no state gives.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { SNAPSHOT_FORMAT } from '../../../src/core/fold/snapshot.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { readSnapshot } from '../../../src/offline/load-state.ts';

describe('a snapshot', () => {
  it.each<[string, JsonObject, string]>([
    ['of another event than its own', { kind: 'Position', seq: 7, time: 0 }, 'a state of event 7'],
    ['with a fact of an unknown kind', { kind: 'Nope' }, 'snapshot fact of unknown kind "Nope"'],
    ['with a fact that lacks a member', { kind: 'Malformed' }, 'file'],
  ])('%s is refused with its seq', async (_, fact, why) => {
    const journal = openMemoryJournal();
    await journal.append([{ source: 'x', kind: 'Synced' }]);
    await journal.snapshots.write({ seq: 1, format: SNAPSHOT_FORMAT, facts: [{ source: 'x', fact }] });
    const reading = readSnapshot(journal, 1);
    await expect(reading).rejects.toMatchObject({ code: 'damaged', seq: 1 });
    await expect(reading).rejects.toThrow(why);
  });
});
