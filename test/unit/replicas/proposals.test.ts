// Facts on their way into a log where something is in the way that is no entry.

import { expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { Replica } from '../../../src/replicas/replica.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';
import { TornLog } from './memory-log.ts';

const fact: Unrecorded = { source: 'file/Kubernetes', kind: 'MeshConfig', value: { accessLogFile: '/dev/stdout' } };

it('facts are recorded although a part of an entry whose writer died is read late', async () => {
  const clock = new FakeClock();
  const journal = openMemoryJournal({ clock: () => clock.now() });
  const log = new TornLog();
  const ignore = (): void => undefined;
  const world = new World({ journal, state: emptyState, clock, strict: false, log: ignore });
  const replica = new Replica({
    ...{ id: 'a', log, lease: log, journal, world, clock, say: ignore, onLead: ignore, onFollow: ignore },
  });
  replica.start();
  await settle();
  log.isTorn = true;
  log.unreadFor = 2;
  let isRecorded = false;
  void replica
    .recordNews(() => [fact])
    .then(() => {
      isRecorded = true;
    });
  const end = clock.now() + 10_000;
  await settle();
  expect(log.appends).toBe(1);
  while (clock.next(end)) await settle(3);
  expect([isRecorded, replica.state.mesh.effective.accessLogFile]).toEqual([true, '/dev/stdout']);
  await replica.stop();
});
