// The file adapter in the rig of law 9, and the rig against adapters that are wrong.

import { mkdtemp, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Adapter, Sink } from '../../src/adapters/adapter.ts';
import { FileAdapter } from '../../src/adapters/file/file-adapter.ts';
import type { Fact } from '../../src/core/event.ts';
import { liveChanges, relistAfterGap, reorderedSources, resync, type Source, wrapped } from './rig.ts';

const EAST = 'file/east';
/** A canary need not wait long for what never comes. */
const CANARY_MS = 500;
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A folder with one file an object, JSON being YAML; files are renamed into place, as editors do. */
async function folderSource(cluster: string, wrap: (sink: Sink) => Sink = sink => sink): Promise<Source> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-rig-'));
  folders.push(folder);
  return {
    set: async (name, object) => {
      const path = join(folder, `${name}.yaml`);
      if (object === undefined) return unlink(path);
      await writeFile(`${path}.new`, JSON.stringify(object));
      return rename(`${path}.new`, path);
    },
    open: (): Adapter => {
      const adapter = new FileAdapter({ configDir: folder, cluster, log: () => undefined });
      return wrapped(adapter, wrap);
    },
  };
}

describe('law 9: the file adapter passes the rig', () => {
  it.each([false, true])('add, update, delete while it looks (everything said twice: %s)', async twice => {
    expect(await liveChanges(await folderSource('east'), EAST, twice)).toEqual([]);
  });

  it('a list after a gap says the differences', async () => {
    expect(await relistAfterGap(await folderSource('east'), EAST)).toEqual([]);
  });

  it('a list without a difference says nothing', async () => {
    expect(await resync(await folderSource('east'), EAST)).toEqual([]);
  });

  it('order between sources does not count', async () => {
    const [east, west] = [await folderSource('east'), await folderSource('west')];
    expect(await reorderedSources(east, west, [EAST, 'file/west'])).toEqual([]);
  });
});

describe('canary: the rig finds an adapter that', () => {
  const changing = (change: (facts: readonly Fact[]) => readonly Fact[]) => (sink: Sink) => ({
    submit: (batch: readonly Fact[]) => sink.submit(change(batch)),
    relist: (all: readonly Fact[], unreadable: readonly string[]) => sink.relist(change(all), unreadable),
    relistKinds: sink.relistKinds,
  });
  const without = (kind: Fact['kind']) => changing(facts => facts.filter(fact => fact.kind !== kind));

  it('forgets deletions', async () => {
    const wrong = await liveChanges(await folderSource('east', without('Delete')), EAST, false, CANARY_MS);
    expect(wrong.some(text => text.startsWith('not in the source'))).toBe(true);
  });

  it('forgets updates', async () => {
    const wrong = await liveChanges(await folderSource('east', without('Update')), EAST, false, CANARY_MS);
    expect(wrong.some(text => text.startsWith('missing'))).toBe(true);
  });

  it('loses an object in its list', async () => {
    const half = await folderSource(
      'east',
      changing(facts => facts.slice(1)),
    );
    expect(await relistAfterGap(half, EAST, CANARY_MS)).not.toEqual([]);
  });

  it('changes what it says of an object with each list', async () => {
    let lists = 0;
    const marked = (facts: readonly Fact[]): readonly Fact[] => {
      lists += 1;
      return facts.map(fact => (fact.kind === 'Add' ? { ...fact, object: { ...fact.object, spec: { lists } } } : fact));
    };
    expect(await resync(await folderSource('east', changing(marked)), EAST)).not.toEqual([]);
  });

  it('speaks under the name of another source', async () => {
    const [east, west] = [await folderSource('east'), await folderSource('west')];
    expect(await reorderedSources(east, west, [EAST, EAST])).not.toEqual([]);
  });
});
