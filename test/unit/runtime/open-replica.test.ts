// What a replica refuses before it connects to anything.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { defaultSettings } from '../../../src/core/mesh/settings.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { openReplica, type ReplicaParts } from '../../../src/runtime/open-replica.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock } from '../../sim/fake-clock.ts';

const service = (source: string): Unrecorded => ({
  source,
  kind: 'Add',
  object: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', namespace: 'b' },
    spec: { ports: [{ port: 80 }] },
  },
});

describe('a mirror', () => {
  it('is not the journal of a single process, whose objects no log gave', async () => {
    const clock = new FakeClock();
    const journal = openMemoryJournal({ clock: () => clock.now() });
    const log = (): void => undefined;
    const world = new World({ journal, state: emptyState, clock, strict: false, log });
    await world.record([service('file/Kubernetes')]);
    const address = { servers: ['127.0.0.1:1'], isTls: false, mesh: 'test' };
    const replica = { address, id: 'r', streamReplicas: 1 };
    const parts = { world, journal, clock, log } as unknown as ReplicaParts;
    await expect(openReplica({ replica, settings: defaultSettings }, parts)).rejects.toThrow(
      'has objects of file/Kubernetes that are of no log: it is the journal of a single process',
    );
  });
});
