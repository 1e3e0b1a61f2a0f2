// The adapter for objects in memory, in the rig of law 9.

import { describe, expect, it } from 'vitest';
import { MemoryAdapter } from '../../src/adapters/memory/memory-adapter.ts';
import type { RawObject } from '../../src/core/event.ts';
import { liveChanges, relistAfterGap, reorderedSources, resync, type Source } from './rig.ts';

/** A memory that outlives the adapters which read it. */
function memorySource(cluster: string): Source {
  const objects = new Map<string, RawObject>();
  let adapter = new MemoryAdapter(cluster);
  return {
    set: async (name, object) => {
      const known = objects.get(name);
      if (object === undefined) {
        objects.delete(name);
        if (known !== undefined) await adapter.remove(known);
      } else {
        objects.set(name, object);
        await adapter.set(object);
      }
    },
    open: () => {
      adapter = new MemoryAdapter(cluster);
      for (const object of objects.values()) void adapter.set(object);
      return adapter;
    },
  };
}

describe('law 9: the memory adapter passes the rig', () => {
  it.each([false, true])('add, update, delete while it looks (everything said twice: %s)', async twice => {
    expect(await liveChanges(memorySource('east'), 'memory/east', twice)).toEqual([]);
  });
  it('a list after a gap says the differences', async () => {
    expect(await relistAfterGap(memorySource('east'), 'memory/east')).toEqual([]);
  });
  it('a list without a difference says nothing', async () => {
    expect(await resync(memorySource('east'), 'memory/east')).toEqual([]);
  });
  it('order between sources does not count', async () => {
    const wrong = await reorderedSources(memorySource('east'), memorySource('west'), ['memory/east', 'memory/west']);
    expect(wrong).toEqual([]);
  });
  it('an object without a name is refused', async () => {
    await expect(new MemoryAdapter('east').set({ apiVersion: 'v1', kind: 'Service' })).rejects.toThrow(TypeError);
  });
});
