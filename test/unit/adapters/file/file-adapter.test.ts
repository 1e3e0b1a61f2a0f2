// The file adapter on a real folder: hot reload in all the ways files change, batches, precedence, and nothing lost to
// a bad edit.

import { chmod, mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileAdapter, type FileAdapterOptions } from '../../../../src/adapters/file/file-adapter.ts';
import { RecordingSink } from '../recording-sink.ts';

const namespace = (name: string, labels = '{}'): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: ${labels}}\n`;

let folder: string;
let adapter: FileAdapter | undefined;
let log: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-files-'));
  log = [];
});
afterEach(async () => {
  await adapter?.stop();
  adapter = undefined;
  await rm(folder, { recursive: true, force: true });
});

type Options = Pick<FileAdapterOptions, 'configDir' | 'meshConfig' | 'quietMs' | 'rescanMs' | 'allowEmpty'>;

async function start(options: Options = { configDir: folder }): Promise<RecordingSink> {
  return started(new RecordingSink(), options);
}

async function started(sink: RecordingSink, options: Options): Promise<RecordingSink> {
  adapter = new FileAdapter({ ...options, cluster: 'Kubernetes', log: (_, message) => log.push(message) });
  await adapter.start(sink);
  return sink;
}

/** Root may read everything. */
async function asAnotherUser<T>(during: () => Promise<T>): Promise<T> {
  const others = process.getuid?.() === 0 ? 65_534 : undefined;
  if (others !== undefined) process.seteuid?.(others);
  try {
    return await during();
  } finally {
    if (others !== undefined) process.seteuid?.(0);
  }
}

const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);

describe('the file adapter', () => {
  it('lists everything first, recursively', async () => {
    await mkdir(join(folder, 'deep/er'), { recursive: true });
    await put('a.yaml', `${namespace('a')}---\n${namespace('b')}`);
    await put('deep/er/c.yml', namespace('c'));
    await put('ignored.txt', namespace('d'));
    await put('.hidden.yaml', namespace('e'));
    const sink = await start();
    expect([...sink.objects.keys()].sort()).toEqual(['Namespace/a', 'Namespace/b', 'Namespace/c']);
    expect(sink.lists).toHaveLength(1);
  });

  it('reports no file as unreadable because it is stopped while it reads', async () => {
    for (let i = 0; i < 100; i++) await put(`${i}.yaml`, namespace(`n-${i}`));
    adapter = new FileAdapter({ configDir: folder, cluster: 'Kubernetes', log: (_, message) => log.push(message) });
    const starting = adapter.start(new RecordingSink()).catch(() => undefined);
    await new Promise(resolve => setImmediate(resolve));
    await adapter.stop();
    await starting;
    expect(log.filter(line => line.includes('cannot be read'))).toEqual([]);
  });

  it('one change of a file is one batch with only what changed', async () => {
    await put('a.yaml', `${namespace('a')}---\n${namespace('b')}---\n${namespace('c')}`);
    const sink = await start();
    await put('a.yaml', `${namespace('a')}---\n${namespace('b', '{x: "1"}')}---\n${namespace('d')}`);
    await sink.until(s => s.objects.has('Namespace/d'));
    const kinds = sink.batches.flatMap(batch => batch.map(fact => fact.kind));
    expect(kinds).toContain('Delete');
    expect(sink.batches).toHaveLength(1);
    expect([...sink.objects.keys()].sort()).toEqual(['Namespace/a', 'Namespace/b', 'Namespace/d']);
  });

  it('notices a file that is replaced by a rename, removed or created again', async () => {
    await put('a.yaml', namespace('a'));
    const sink = await start();
    await put('a.tmp', namespace('renamed'));
    await rename(join(folder, 'a.tmp'), join(folder, 'a.yaml'));
    await sink.until(s => s.objects.has('Namespace/renamed') && !s.objects.has('Namespace/a'));
    await unlink(join(folder, 'a.yaml'));
    await sink.until(s => s.objects.size === 0);
    await put('b.yaml', namespace('b'));
    await sink.until(s => s.objects.has('Namespace/b'));
  });

  it.runIf(process.platform === 'linux')(
    'reads a file moved into place at once, and delays one that is being written',
    async () => {
      await put('a.yaml', namespace('a'));
      await put('b.yaml', namespace('b'));
      const sink = await start({ configDir: folder, quietMs: 3_600_000 });
      const move = async (name: string, text: string): Promise<void> => {
        await put('..elsewhere', text);
        await rename(join(folder, '..elsewhere'), join(folder, name));
      };
      await put('a.yaml', namespace('written-over'));
      await put('new.yaml', namespace('half'));
      await move('b.yaml', namespace('moved'));
      await sink.until(s => s.objects.has('Namespace/moved'));
      await move('c.yaml', namespace('c'));
      await sink.until(s => s.objects.has('Namespace/c'));
      expect([...sink.objects.keys()].sort()).toEqual(['Namespace/a', 'Namespace/c', 'Namespace/moved']);
    },
  );

  it('notices files in a new folder, and writes through a link', async () => {
    await mkdir(join(folder, 'watched'));
    const elsewhere = await mkdtemp(join(tmpdir(), 'periplus-linked-'));
    try {
      await writeFile(join(elsewhere, 'real.yaml'), namespace('linked'));
      await symlink(join(elsewhere, 'real.yaml'), join(folder, 'link.yaml'));
      const sink = await start();
      await mkdir(join(folder, 'watched/deeper'));
      await put('watched/deeper/d.yaml', namespace('deep'));
      await sink.until(s => s.objects.has('Namespace/deep'));
      await put('watched/deeper/d.yaml', namespace('deeper'));
      await sink.until(s => s.objects.has('Namespace/deeper') && !s.objects.has('Namespace/deep'));
      await writeFile(join(elsewhere, 'real.yaml'), namespace('changed'));
      await sink.until(s => s.objects.has('Namespace/changed'));
      await rm(join(folder, 'watched'), { recursive: true });
      await sink.until(s => !s.objects.has('Namespace/deeper'));
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  it('notices a ConfigMap mount that swaps its data', async () => {
    const mount = async (version: string, text: string): Promise<void> => {
      await mkdir(join(folder, `..${version}`));
      await put(`..${version}/config.yaml`, text);
      await symlink(`..${version}`, join(folder, '..data_tmp'));
      await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    };
    await mount('v1', namespace('one'));
    await symlink('..data/config.yaml', join(folder, 'config.yaml'));
    const sink = await start();
    expect([...sink.objects.keys()]).toEqual(['Namespace/one']);
    await mount('v2', namespace('two'));
    await rm(join(folder, '..v1'), { recursive: true });
    await sink.until(s => s.objects.has('Namespace/two') && !s.objects.has('Namespace/one'));
  });

  it('notices removals from a file with kinds of other projects or a repeated object', async () => {
    const foreign = 'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\n';
    const file = (...parts: readonly string[]): string => parts.join('---\n');
    await put('a.yaml', file(foreign, namespace('a'), namespace('b')));
    await put('b.yaml', file(namespace('twice'), namespace('twice'), namespace('c')));
    const sink = await start();
    expect(sink.lists.map(({ unreadable }) => unreadable)).toEqual([[]]);
    await put('a.yaml', file(foreign, namespace('a')));
    await sink.until(s => !s.objects.has('Namespace/b'));
    await put('b.yaml', file(namespace('twice'), namespace('twice')));
    await sink.until(s => !s.objects.has('Namespace/c'));
    expect([...sink.objects.keys()].sort()).toEqual(['Namespace/a', 'Namespace/twice']);
  });

  it('keeps the objects that a bad edit would remove, and reports the problem', async () => {
    await put('a.yaml', `${namespace('a')}---\n${namespace('b')}`);
    const sink = await start();
    await put('a.yaml', `${namespace('a', '{new: "1"}')}---\nkind: [\n`);
    await sink.until(s => s.batches.flat().some(fact => fact.kind === 'Malformed'));
    expect([...sink.objects.keys()].sort()).toEqual(['Namespace/a', 'Namespace/b']);
    await put('a.yaml', namespace('a'));
    await sink.until(s => !s.objects.has('Namespace/b'));
    expect(
      sink.batches
        .flat()
        .filter(fact => fact.kind === 'Malformed')
        .at(-1),
    ).toMatchObject({ reasons: [] });
  });

  it('reports an unreadable file at a restart, so that its objects are not deleted', async () => {
    await put('bad.yaml', 'kind: [\n');
    const sink = await start();
    expect(sink.lists[0]?.unreadable).toEqual([join(folder, 'bad.yaml')]);
    expect(sink.lists[0]?.all).toMatchObject([{ kind: 'Malformed', origin: { file: join(folder, 'bad.yaml') } }]);
  });

  it('takes an object in two files from the first path, and from the other once that is removed', async () => {
    await put('a.yaml', namespace('x', '{from: a}'));
    await put('b.yaml', namespace('x', '{from: b}'));
    const sink = await start();
    expect(sink.objects.get('Namespace/x')).toMatchObject({ metadata: { labels: { from: 'a' } } });
    expect(log.join()).toMatch(/x is in .*a\.yaml and in .*b\.yaml; the first is used/);
    await unlink(join(folder, 'a.yaml'));
    await sink.until(s => JSON.stringify(s.objects.get('Namespace/x')).includes('"b"'));
    expect(sink.batches.flat().map(fact => fact.kind)).toEqual(['Update']);
  });

  it('retries a change that cannot be recorded, without delaying other files', async () => {
    await put('a.yaml', namespace('a'));
    await put('b.yaml', namespace('b'));
    const sink = await start();
    const submit = sink.submit.bind(sink);
    sink.submit = batch =>
      JSON.stringify(batch).includes('unfit') ? Promise.reject(new Error('unfit')) : submit(batch);
    await put('a.yaml', namespace('a', '{x: unfit}'));
    await put('b.yaml', namespace('b', '{x: "2"}'));
    await sink.until(s => JSON.stringify(s.objects.get('Namespace/b')).includes('"2"'));
    expect(log.join()).toMatch(/unfit/);
    sink.submit = submit;
    await put('c.yaml', namespace('c'));
    await sink.until(
      s => JSON.stringify(s.objects.get('Namespace/a')).includes('unfit') && s.objects.has('Namespace/c'),
    );
  });

  it('reports a file without read permission, and keeps its earlier objects', async () => {
    const path = join(folder, 'own.yaml');
    await put('own.yaml', namespace('one'));
    await chmod(folder, 0o755);
    const sink = await start({ configDir: folder, quietMs: 300 });
    await put('own.yaml', namespace('two'));
    await chmod(path, 0);
    await asAnotherUser(() => sink.until(s => s.batches.flat().some(fact => fact.kind === 'Malformed')));
    expect(sink.batches.flat()).toMatchObject([
      { kind: 'Malformed', origin: { file: path }, reasons: ['1:1: cannot be read: permission denied'] },
    ]);
    await chmod(path, 0o644);
    await sink.until(s => JSON.stringify(s.batches).includes('"two"'));
  });

  it('deletes nothing below a folder that it may not list after a restart', async () => {
    const sub = join(folder, 'sub');
    await mkdir(sub);
    await put('sub/own.yaml', namespace('one'));
    await chmod(folder, 0o755);
    await chmod(sub, 0);
    const sink = await asAnotherUser(() => start());
    expect(sink.lists[0]?.unreadable).toEqual([sub]);
    expect(log.join('\n')).toContain(`${sub} cannot be read: permission denied`);
    expect(adapter?.status().unreadable).toMatchObject([{ what: sub, why: 'permission denied' }]);
    await chmod(sub, 0o755);
  });

  it('deletes nothing for a folder that is empty at the start, until a file appears', async () => {
    const sink = new RecordingSink();
    sink.held = what => 'path' in what && what.path === folder;
    await started(sink, { configDir: folder });
    expect(sink.lists).toEqual([]);
    expect(adapter?.status()).toMatchObject({ synced: false, unreadable: [{ what: folder }] });
    await put('a.yaml', namespace('a'));
    await sink.until(s => s.lists.length > 0);
    expect(sink.lists).toMatchObject([{ unreadable: [] }]);
    expect(adapter?.status()).toMatchObject({ synced: true, unreadable: [] });
  });

  it('takes a folder that is empty at the start for empty with --allow-empty-source', async () => {
    const sink = new RecordingSink();
    sink.held = () => true;
    await started(sink, { configDir: folder, allowEmpty: true });
    expect(sink.lists).toMatchObject([{ all: [], unreadable: [] }]);
  });

  it('deletes nothing if an empty folder replaces the one it read, but follows removals within it', async () => {
    const mount = join(folder, 'mount');
    await mkdir(mount);
    await put('mount/a.yaml', namespace('a'));
    await put('mount/b.yaml', namespace('b'));
    const sink = await start({ configDir: mount, rescanMs: 100 });
    await unlink(join(mount, 'a.yaml'));
    await sink.until(s => !s.objects.has('Namespace/a'));
    await rename(mount, join(folder, 'unmounted'));
    await mkdir(mount);
    await sink.until(() => adapter?.status().unreadable.length === 1);
    expect(sink.objects.has('Namespace/b')).toBe(true);
    await rm(mount, { recursive: true });
    await rename(join(folder, 'unmounted'), mount);
    await sink.until(() => adapter?.status().unreadable.length === 0);
    await unlink(join(mount, 'b.yaml'));
    await sink.until(s => !s.objects.has('Namespace/b'));
  });

  it('refuses a missing folder, unless the journal has objects from it', async () => {
    const gone = join(folder, 'gone');
    await expect(start({ configDir: gone })).rejects.toThrow('no such file or directory');
    const sink = new RecordingSink();
    sink.held = what => 'path' in what && what.path === gone;
    await started(sink, { configDir: gone });
    expect(sink.lists).toEqual([]);
    expect(adapter?.status()).toMatchObject({ synced: false, unreadable: [{ what: gone }] });
  });

  it('deletes objects removed from a file since it was unreadable at the start', async () => {
    await put('a.yaml', `${namespace('a')}---\nkind: [`);
    const sink = await start();
    expect(sink.lists).toMatchObject([{ unreadable: [join(folder, 'a.yaml')] }]);
    await put('a.yaml', namespace('b'));
    await sink.until(s => s.lists.length === 2);
    expect(sink.lists[1]?.unreadable).toEqual([]);
  });

  it.each([
    ['a link that leads nowhere', () => symlink(join(folder, 'missing/a.yaml'), join(folder, 'a.yaml'))],
    ['a link to itself', () => symlink(join(folder, 'a.yaml'), join(folder, 'a.yaml'))],
    ['a device', () => symlink('/dev/null', join(folder, 'a.yaml'))],
  ])('keeps the objects of a file replaced by %s', async (_, replace) => {
    await put('a.yaml', namespace('a'));
    await put('b.yaml', namespace('b'));
    const sink = await start({ configDir: folder, rescanMs: 100 });
    await unlink(join(folder, 'a.yaml'));
    await replace();
    await sink.until(() => adapter?.status().unreadable.length === 1);
    expect(sink.objects.has('Namespace/a')).toBe(true);
    await unlink(join(folder, 'a.yaml'));
    await sink.until(s => !s.objects.has('Namespace/a'));
  });

  it('keeps the mesh configuration if the folder of its file is removed, or the file becomes a folder', async () => {
    const meshConfig = join(folder, 'mount/mesh');
    const sink = new RecordingSink();
    sink.held = what => 'mesh' in what;
    await started(sink, { meshConfig });
    expect(sink.lists[0]).toMatchObject({ all: [], unreadable: [meshConfig] });
    expect(adapter?.status().unreadable).toMatchObject([{ what: meshConfig, why: 'its folder is not there' }]);
    await adapter?.stop();
    await mkdir(meshConfig, { recursive: true });
    await started(sink, { meshConfig });
    expect(sink.lists[1]).toMatchObject({ all: [], unreadable: [meshConfig] });
    expect(adapter?.status().unreadable).toMatchObject([{ what: meshConfig, why: 'is a folder' }]);
  });

  it('follows a mesh file that is absent, created, broken and mended', async () => {
    const file = join(folder, 'mesh');
    const sink = await start({ meshConfig: file });
    expect(sink.lists[0]?.all).toMatchObject([{ kind: 'MeshConfig', value: null }, { kind: 'Malformed' }]);
    await put('mesh', 'accessLogFile: /dev/stdout\n');
    await sink.until(s => JSON.stringify(s.batches).includes('/dev/stdout'));
    await put('mesh', 'accessLogFile: [\n');
    // Every reason says where in the file.
    await sink.until(s =>
      s.batches.flat().some(fact => fact.kind === 'Malformed' && fact.reasons.some(reason => /^2:1: /.test(reason))),
    );
    await put('mesh', 'accessLogFile: ""\n');
    await sink.until(
      s => s.batches.flat().at(-1)?.kind === 'Malformed' && JSON.stringify(s.batches.at(-1)).includes('"reasons":[]'),
    );
  });

  it('finds the line of a path inside an object', async () => {
    await put(
      'a.yaml',
      `# head\n${namespace('a')}---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: b\n  labels:\n    x: 1\n`,
    );
    const sink = await start();
    const second = sink.lists[0]?.all.find(fact => fact.kind === 'Add' && JSON.stringify(fact.object).includes('"b"'));
    const origin = second?.kind === 'Add' ? second.origin : undefined;
    expect(origin?.line).toBe(6);
    expect(await adapter?.locate([{ origin: origin!, path: 'metadata.labels.x' }])).toMatchObject([
      { line: 11, column: 5 },
    ]);
  });
});
