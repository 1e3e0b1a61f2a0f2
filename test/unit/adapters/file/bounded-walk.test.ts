// Folders that are too large, links that lead anywhere, and reads that do not return: what is there stays known, and
// everything else is read.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, nodeDisk } from '../../../../src/adapters/file/disk.ts';
import { FileAdapter } from '../../../../src/adapters/file/file-adapter.ts';
import { FOLDERS_MAX, LINKED_FOLDERS_MAX, scanFolder } from '../../../../src/adapters/file/scan.ts';
import { HANGING_MAX, TimedDisk } from '../../../../src/adapters/file/timed-disk.ts';
import { RecordingSink } from '../recording-sink.ts';

const never = new Promise<never>(() => undefined);
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'periplus-walk-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n';

describe('walking a folder', () => {
  it('reads nothing behind a link to something large, and everything beside it', async () => {
    const large = mkdtempSync(join(tmpdir(), 'periplus-large-'));
    for (let i = 0; i <= LINKED_FOLDERS_MAX; i++) mkdirSync(join(large, `f${i}`));
    writeFileSync(join(large, 'x.yaml'), NAMESPACE);
    mkdirSync(join(root, 'conf'));
    symlinkSync(large, join(root, 'conf', 'a-link'));
    writeFileSync(join(root, 'conf', 'b.yaml'), NAMESPACE);
    const { files, hidden } = await scanFolder(root);
    rmSync(large, { recursive: true });
    expect(files.map(({ path }) => path)).toEqual([join(root, 'conf', 'b.yaml')]);
    expect(hidden).toEqual([{ path: join(root, 'conf', 'a-link'), why: expect.stringMatching(/^leads to more than/) }]);
  });

  it('takes nothing for gone in a folder of too many folders', async () => {
    for (let i = 0; i <= FOLDERS_MAX; i++) mkdirSync(join(root, `f${i}`));
    const { hidden, folders } = await scanFolder(root);
    expect(hidden).toEqual([{ path: root, why: expect.stringMatching(/^has more than 2000 folders/) }]);
    expect(folders.size).toBeLessThanOrEqual(FOLDERS_MAX);
  });
});

describe('a disk that does not answer', () => {
  const hung = (which: (path: string) => boolean): Disk => ({
    ...nodeDisk,
    readFile: path => (which(path) ? never : nodeDisk.readFile(path)),
  });

  it('is an error in time, and is asked no more until it answers', async () => {
    let answer: (bytes: Uint8Array) => void = () => undefined;
    let asked = 0;
    const slow: Disk = {
      ...nodeDisk,
      readFile: () => {
        asked++;
        return new Promise(resolve => {
          answer = resolve;
        });
      },
    };
    const disk = new TimedDisk(slow, () => 7, 20);
    await expect(disk.readFile('/a')).rejects.toThrow('does not answer within 0.02 s');
    await expect(disk.readFile('/a')).rejects.toThrow('does not answer');
    expect(asked).toBe(1);
    expect(disk.hanging()).toEqual([{ what: '/a', why: 'does not answer within 0.02 s', since: 7 }]);
    answer(new Uint8Array(1));
    await pause(0);
    expect(disk.hanging()).toEqual([]);
  });

  it('leaves threads to others: past a few nothing more is asked', async () => {
    const disk = new TimedDisk(
      hung(() => true),
      () => 0,
      10,
    );
    for (let i = 0; i < HANGING_MAX; i++) await expect(disk.readFile(`/${i}`)).rejects.toThrow('does not answer');
    await expect(disk.readFile('/more')).rejects.toThrow('is not looked at while /0 does not answer');
    await expect(disk.lstat(root)).rejects.toThrow('is not looked at');
  });

  it('ends what is waited for when the adapter stops, and nothing is recorded of what was not read', async () => {
    writeFileSync(join(root, 'a.yaml'), NAMESPACE);
    const disk = hung(path => path.endsWith('a.yaml'));
    const adapter = new FileAdapter({ configDir: root, cluster: 'c', disk, log: () => undefined });
    const sink = new RecordingSink();
    const started = adapter.start(sink);
    await pause(50);
    expect(adapter.status().synced).toBe(false);
    await adapter.stop();
    await started;
    expect([sink.lists, sink.batches]).toEqual([[], []]);
    expect(adapter.status().synced).toBe(false);
  }, 4_000);

  it('shows in the status of the adapter while everything else is read', async () => {
    writeFileSync(join(root, 'a.yaml'), NAMESPACE);
    writeFileSync(join(root, 'b.yaml'), NAMESPACE.replace('name: a', 'name: b'));
    const disk = hung(path => path.endsWith('a.yaml'));
    const sink = new RecordingSink();
    const adapter = new FileAdapter({ configDir: root, cluster: 'c', disk, log: () => undefined });
    await adapter.start(sink);
    const { unreadable } = adapter.status();
    await adapter.stop();
    expect(unreadable).toMatchObject([{ what: join(root, 'a.yaml'), why: 'does not answer within 5 s' }]);
    expect(JSON.stringify(sink.lists[0]?.all)).toContain('"b"');
    expect(sink.lists[0]?.unreadable).toContain(join(root, 'a.yaml'));
  }, 30_000);

  it.runIf(process.platform === 'linux')('reads a device that has nothing to say as an error, at once', async () => {
    await expect(nodeDisk.readFile('/dev/ptmx')).rejects.toThrow(/EAGAIN|EIO|EACCES|ENOENT|EPERM/);
  });
});
