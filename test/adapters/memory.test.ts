// The adapter for objects in memory, in the rig of law 9.

import { describe, expect, it } from 'vitest';
import { MemoryAdapter } from '../../src/adapters/memory/memory-adapter.ts';
import type { RawObject } from '../../src/core/event.ts';
import {
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
} from '../../src/testing/adapter-rig.ts';

/** A memory that outlives the adapters which read it. */
function memorySource(cluster: string): RigSource {
  const objects = new Map<string, RawObject>();
  let adapter = new MemoryAdapter(cluster);
  let hidden = false;
  const isSeen = (name: string): boolean => !hidden || name === 'route';
  const removed: RawObject[] = [];
  return {
    set: async (name, object) => {
      const known = objects.get(name);
      if (object === undefined) {
        objects.delete(name);
        if (known === undefined) return;
        if (isSeen(name)) await adapter.remove(known);
        else removed.push(known);
      } else {
        objects.set(name, object);
        if (isSeen(name)) await adapter.set(object);
      }
    },
    hide: async now => {
      hidden = now;
      if (!hidden) {
        for (const object of objects.values()) await adapter.set(object);
        for (const object of removed.splice(0)) await adapter.remove(object);
      }
      await adapter.setUnreadable(hidden ? 'the registry is away' : undefined);
    },
    open: () => {
      adapter = new MemoryAdapter(cluster);
      for (const [name, object] of objects) if (isSeen(name)) void adapter.set(object);
      if (hidden) void adapter.setUnreadable('the registry is away');
      return adapter;
    },
  };
}

describe('law 9: the memory adapter passes the rig', () => {
  it.each([false, true])(
    'records adds, updates and deletes while it watches (each event sent twice: %s)',
    async twice => {
      expect(await liveChanges(memorySource('east'), 'memory/east', twice)).toEqual([]);
    },
  );
  it('records the differences when it lists after a gap', async () => {
    expect(await relistAfterGap(memorySource('east'), 'memory/east')).toEqual([]);
  });
  it('records nothing for a list without differences', async () => {
    expect(await resync(memorySource('east'), 'memory/east')).toEqual([]);
  });
  it('takes a source that cannot be read for unknown, never for empty', async () => {
    expect(await unreadablePart(memorySource('east'), 'memory/east')).toEqual([]);
  });
  it('gives the same result in any order of sources', async () => {
    const wrong = await reorderedSources(memorySource('east'), memorySource('west'), ['memory/east', 'memory/west']);
    expect(wrong).toEqual([]);
  });
  it('refuses an object without a name', async () => {
    await expect(new MemoryAdapter('east').set({ apiVersion: 'v1', kind: 'Service' })).rejects.toThrow(TypeError);
  });
});
