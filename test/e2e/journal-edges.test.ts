// The edges of the journal as an operator meets them: the built program, a real disk that is full, a real SIGTERM, a
// journal file that somebody emptied.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const run = promisify(execFile);
const PROGRAM = join(import.meta.dirname, '../../dist/cli/main.js');
const WAIT_MS = 120_000;
const isRoot = process.getuid?.() === 0;
const canMount = canRun('a full disk', isRoot ? undefined : 'mounting a small disk needs root');

function serviceEntry(name: string): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: shop }
spec: { hosts: [${name}.example], ports: [{ number: 443, name: tls, protocol: TLS }], resolution: DNS }
`;
}

describe('a control plane whose journal', () => {
  let folder: string;
  let log = '';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-edges-'));
    await mkdir(join(folder, 'mesh'));
    await writeFile(join(folder, 'mesh/a.yaml'), serviceEntry('first'));
  });
  afterEach(async () => {
    await run('umount', [join(folder, 'disk')]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  function serve(journal: string, ...more: readonly string[]) {
    const ports = ['grpcAddr', 'httpAddr', 'monitoringAddr'].flatMap(name => [`--${name}`, '127.0.0.1:0']);
    const args = ['serve', '--configDir', join(folder, 'mesh'), '--journal', journal, ...ports, ...more];
    const child = spawn(process.execPath, [PROGRAM, ...args, '--httpsAddr', '', '--secureGrpcAddr', '']);
    log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (log += String(bytes)));
    return child;
  }
  const logged = (pattern: RegExp): Promise<void> =>
    until(`the log says ${String(pattern)}`, () => pattern.test(log), WAIT_MS);

  async function stopped(child: ReturnType<typeof serve>): Promise<void> {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  it('was emptied does not start: it names the head that is lost and exits with 1', async () => {
    const journal = join(folder, 'j.db');
    const first = serve(journal);
    await logged(/xDS on port/);
    await stopped(first);
    await truncate(journal, 0);
    const [code] = (await once(serve(journal), 'exit')) as [number | null];
    expect(code).toBe(1);
    expect(log).toMatch(/it held events up to [1-9]\d* \(hash [0-9a-f]{64}\)/);
  });

  it.runIf(canMount)(
    'is on a full disk spills at SIGTERM what it could not record; the next start records it',
    async () => {
      const disk = join(folder, 'disk');
      const spill = join(folder, 'spill');
      await mkdir(disk);
      await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
      const journal = join(disk, 'j.db');
      const first = serve(journal, '--journal-spill', spill);
      await logged(/xDS on port/);
      await run('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4096']).catch(() => undefined);
      // More than the pages that the journal has in hand.
      const many = Array.from({ length: 100 }, (_, i) => serviceEntry(`late-${i}`)).join('---\n');
      await writeFile(join(folder, 'mesh/b.yaml'), many);
      await logged(/journal.*cannot be written|cannot be recorded|not recorded/i);
      await stopped(first);
      expect(await readFile(join(spill, 'j.db.spill'), 'utf8')).toContain('late-99');
      await rm(join(disk, 'filler'));
      await run('mount', ['-o', 'remount,size=64m', disk]);
      const second = serve(journal, '--journal-spill', spill);
      await logged(/xDS on port/);
      await stopped(second);
      const { stdout } = await run(process.execPath, [PROGRAM, 'journal', 'ls', '-j', journal, '--kind', 'Add'], {
        maxBuffer: 64 << 20,
      });
      expect(stdout).toContain('late-99');
    },
  );
});
