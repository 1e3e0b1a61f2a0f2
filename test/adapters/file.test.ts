// The file adapter in the rig of law 9, and the rig against adapters that are wrong.

import { mkdir, mkdtemp, readdir as readdirOf, rename, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Adapter, Sink } from '../../src/adapters/adapter.ts';
import { type Disk, nodeDisk } from '../../src/adapters/file/disk.ts';
import { FileAdapter } from '../../src/adapters/file/file-adapter.ts';
import type { Fact } from '../../src/core/event.ts';
import {
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
  wrapped,
} from '../../src/testing/adapter-rig.ts';

const EAST = 'file/east';
/** A canary need not wait long for what never comes. */
const CANARY_MS = 500;
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A folder with one file an object, JSON being YAML; files are renamed into place, as editors do. */
async function folderSource(cluster: string, wrap: (sink: Sink) => Sink = sink => sink): Promise<RigSource> {
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

/**
 * A folder for each object; those that are hidden refuse whatever is asked of them and of what is below, as the system
 * would.
 */
async function hidingSource(code: string): Promise<RigSource> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-rig-'));
  folders.push(folder);
  let hidden = false;
  const refusing =
    <T>(read: (path: string) => Promise<T>) =>
    async (path: string): Promise<T> => {
      const name = path.slice(folder.length + 1).split('/')[0];
      const isEntry = path === join(folder, name ?? '');
      if (hidden && name !== '' && name !== 'route' && !(isEntry && code === 'EACCES')) throw failure(code, path);
      return read(path);
    };
  const { lstat, stat, realpath, readdir, readFile } = nodeDisk;
  const disk: Disk = {
    lstat: refusing(lstat),
    stat: refusing(stat),
    realpath: refusing(realpath),
    readdir: async path => {
      // A folder that may be seen and not listed.
      if (hidden && path !== folder && !path.startsWith(join(folder, 'route'))) throw failure(code, path);
      return readdir(path);
    },
    readFile: refusing(readFile),
  };
  return {
    set: async (name, object) => {
      const own = join(folder, name);
      if (object === undefined) return unlink(join(own, 'object.yaml'));
      await mkdir(own, { recursive: true });
      return writeFile(join(own, 'object.yaml'), JSON.stringify(object));
    },
    hide: async now => {
      hidden = now;
      for (const name of await readdirOf(folder)) await utimes(join(folder, name), new Date(), new Date());
    },
    open: () => new FileAdapter({ configDir: folder, cluster: 'east', disk, log: () => undefined }),
  };
}

const failure = (code: string, path: string): Error =>
  Object.assign(new Error(`${code}: refused, scandir '${path}'`), { code });

describe('law 9: the file adapter passes the rig', () => {
  it.each([false, true])(
    'records adds, updates and deletes while it watches (each event sent twice: %s)',
    async twice => {
      expect(await liveChanges(await folderSource('east'), EAST, twice)).toEqual([]);
    },
  );

  it('records the differences when it lists after a gap', async () => {
    expect(await relistAfterGap(await folderSource('east'), EAST)).toEqual([]);
  });

  it('records nothing for a list without differences', async () => {
    expect(await resync(await folderSource('east'), EAST)).toEqual([]);
  });

  it.each(['EACCES', 'EIO', 'ESTALE', 'ELOOP', 'ENOTDIR', 'ENOTCONN'])(
    'takes a source that cannot be read (%s) for unknown, never for empty',
    async code => {
      expect(await unreadablePart(await hidingSource(code), EAST)).toEqual([]);
    },
  );

  it('gives the same result in any order of sources', async () => {
    const [east, west] = [await folderSource('east'), await folderSource('west')];
    expect(await reorderedSources(east, west, [EAST, 'file/west'])).toEqual([]);
  });
});

describe('canary: the rig detects an adapter that', () => {
  const changing = (change: (facts: readonly Fact[]) => readonly Fact[]) => (sink: Sink) => ({
    submit: (batch: readonly Fact[]) => sink.submit(change(batch)),
    relist: (all: readonly Fact[], unreadable: readonly string[]) => sink.relist(change(all), unreadable),
    relistKinds: sink.relistKinds,
    holds: sink.holds.bind(sink),
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

  it('takes an unreadable source for an empty one', async () => {
    const source = await hidingSource('EACCES');
    const blind = {
      ...source,
      open: () =>
        wrapped(source.open(), sink => ({
          submit: batch => sink.submit(batch),
          relist: all => sink.relist(all, []),
          relistKinds: (kinds, all) => sink.relistKinds(kinds, all),
          holds: () => false,
        })),
    };
    expect(await unreadablePart(blind, EAST, CANARY_MS)).not.toEqual([]);
  });

  it('loses an object in its list', async () => {
    const half = await folderSource(
      'east',
      changing(facts => facts.slice(1)),
    );
    expect(await relistAfterGap(half, EAST, CANARY_MS)).not.toEqual([]);
  });

  it('changes an object with each list', async () => {
    let lists = 0;
    const marked = (facts: readonly Fact[]): readonly Fact[] => {
      lists += 1;
      return facts.map(fact => (fact.kind === 'Add' ? { ...fact, object: { ...fact.object, spec: { lists } } } : fact));
    };
    expect(await resync(await folderSource('east', changing(marked)), EAST)).not.toEqual([]);
  });

  it('records facts under another source’s name', async () => {
    const [east, west] = [await folderSource('east'), await folderSource('west')];
    expect(await reorderedSources(east, west, [EAST, EAST])).not.toEqual([]);
  });
});
