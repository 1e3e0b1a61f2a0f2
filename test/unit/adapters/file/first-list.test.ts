// The first list after a restart, while a file is written, renamed or swapped under the look: the journal's objects of
// that file stay, and go only once the file is seen to be gone.

import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../../src/adapters/file/disk.ts';
import { FileAdapter } from '../../../../src/adapters/file/file-adapter.ts';
import type { Fact } from '../../../../src/core/event.ts';
import { FoldingSink } from '../../../../src/testing/adapter-rig.ts';

const WAIT_MS = 30_000;
const namespaces = (...names: readonly string[]): string =>
  names.map(name => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`).join('---\n');

let folder: string;
let adapter: FileAdapter | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-first-list-'));
});
afterEach(async () => {
  await adapter?.stop();
  adapter = undefined;
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string): string => join(folder, name);

/** A version of the folder behind `..data`, as a mounted ConfigMap has it. */
async function mount(version: string, text: string): Promise<void> {
  await mkdir(at(version));
  await writeFile(at(`${version}/x.yaml`), text);
  await symlink(version, at('..data_tmp'));
  await rename(at('..data_tmp'), at('..data'));
}

async function journalled(): Promise<FoldingSink> {
  const sink = new FoldingSink('file/Kubernetes');
  const first = new FileAdapter({ configDir: folder, cluster: 'Kubernetes', log: () => undefined });
  await first.start(sink);
  await first.stop();
  sink.facts.length = 0;
  return sink;
}

/** Starts on a disk on which something happens once, before `operation` on that file. */
async function restart(sink: FoldingSink, operation: 'stat' | 'readFile', path: string, happens: () => Promise<void>) {
  let isDue = true;
  const before = async (asked: string): Promise<void> => {
    if (!isDue || asked !== path) return;
    isDue = false;
    await happens();
  };
  const disk: Disk = { ...nodeDisk };
  const hooked: Disk =
    operation === 'stat'
      ? { ...disk, stat: async asked => before(asked).then(() => disk.stat(asked)) }
      : { ...disk, readFile: async asked => before(asked).then(() => disk.readFile(asked)) };
  adapter = new FileAdapter({ configDir: folder, cluster: 'Kubernetes', disk: hooked, log: () => undefined });
  await adapter.start(sink);
  expect(isDue).toBe(false);
}

const deleted = (sink: FoldingSink): readonly string[] =>
  sink.facts.flatMap((fact: Fact) => (fact.kind === 'Delete' ? [fact.ref.name] : []));

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!holds() && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}

describe('the first list of files', () => {
  it.each([
    ['written', () => writeFile(at('x.yaml'), `# longer\n${namespaces('a', 'new')}`)],
    ['renamed', () => rename(at('x.yaml'), at('y.yaml')).then(() => writeFile(at('z.yaml'), namespaces('new')))],
  ])('deletes no object of a file that is %s while it is read, and later only what it lost', async (how, happens) => {
    await writeFile(at('x.yaml'), namespaces('a', 'b'));
    const sink = await journalled();
    await restart(sink, 'readFile', at('x.yaml'), happens);
    expect(deleted(sink)).toEqual([]);
    await until(() => sink.facts.some(fact => fact.kind === 'Add' && fact.object.kind === 'Namespace'));
    const isRenamed = how === 'renamed';
    if (isRenamed) await until(() => sink.facts.some(fact => JSON.stringify(fact).includes('y.yaml')));
    else await until(() => deleted(sink).length > 0);
    expect(deleted(sink)).toEqual(isRenamed ? [] : ['b']);
  });

  it('deletes no object of a file that is renamed between the listing of its folder and the look at it', async () => {
    await writeFile(at('x.yaml'), namespaces('a'));
    await writeFile(at('other.yaml'), namespaces('b'));
    const sink = await journalled();
    await restart(sink, 'stat', at('x.yaml'), () => rename(at('x.yaml'), at('y.yaml')));
    expect(deleted(sink)).toEqual([]);
    await until(() => sink.facts.some(fact => JSON.stringify(fact).includes('y.yaml')));
    expect(deleted(sink)).toEqual([]);
  });

  it('deletes no object of a ConfigMap mount that is swapped while it is read, and later what it lost', async () => {
    await mount('..v1', namespaces('a', 'b'));
    await symlink('..data/x.yaml', at('x.yaml'));
    const sink = await journalled();
    await restart(sink, 'readFile', at('x.yaml'), () => mount('..v2', namespaces('a', 'c')));
    expect(deleted(sink)).toEqual([]);
    await until(() => deleted(sink).length > 0);
    expect(deleted(sink)).toEqual(['b']);
  });

  it.each(['stat', 'readFile'] as const)(
    'is repeated, and deletes the objects of a file, once that is really gone (before its %s)',
    async operation => {
      await writeFile(at('x.yaml'), namespaces('a'));
      await writeFile(at('other.yaml'), namespaces('b'));
      const sink = await journalled();
      await restart(sink, operation, at('x.yaml'), () => unlink(at('x.yaml')));
      expect(deleted(sink)).toEqual([]);
      await until(() => deleted(sink).length > 0);
      expect(deleted(sink)).toEqual(['a']);
    },
  );
});
