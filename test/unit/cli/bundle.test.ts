// The one-file program runs alone: in a folder without a clone, without node_modules, with an empty home.

import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportJournal } from '../../../src/journal/export.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';

const ROOT = join(import.meta.dirname, '../../..');
const BUILD_MS_MAX = 120_000;
const MEGABYTES_MAX = 8;

const folder = mkdtempSync(join(tmpdir(), 'periplus-alone-'));
const home = join(folder, 'home');
const file = join(folder, 'periplus.mjs');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], { input = '', HOME = home } = {}): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME, TMPDIR: folder };
  return new Promise(resolve => {
    const child = execFile(process.execPath, [file, ...args], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

const service = `apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec: { selector: { app: web }, ports: [{ name: http, port: 80 }] }
`;

describe('the program in one file', () => {
  beforeAll(async () => {
    const script = join(ROOT, 'scripts/bundle.mjs');
    const { bundle } = (await import(script)) as { readonly bundle: (out: string) => Promise<void> };
    const made = join(folder, 'made', 'periplus.mjs');
    await bundle(made);
    copyFileSync(made, file);
    rmSync(join(folder, 'made'), { recursive: true });
    mkdirSync(home);
  }, BUILD_MS_MAX);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it(`is smaller than ${MEGABYTES_MAX} MB and unpacks itself once`, async () => {
    expect(statSync(file).size).toBeLessThan(MEGABYTES_MAX * 2 ** 20);
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    // From Node 22 on its compile cache lies beside it.
    const kept = readdirSync(join(home, '.cache/periplus'));
    expect(kept.filter(name => name.startsWith('bundle-'))).toHaveLength(1);
  });

  it('analyzes what a pipe brings', async () => {
    const { stdout, stderr, code } = await run(['analyze', '-f', '-'], { input: service });
    expect(stdout + stderr).toContain('1 object');
    expect(code).toBe(0);
  });

  it('writes and reads journals: threads and the SQLite addon are in it', async () => {
    const journal = openMemoryJournal();
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    await journal.append([{ source: 'file/Kubernetes', kind: 'Add', object }]);
    const lines: string[] = [];
    for await (const line of exportJournal(journal, { redact: false })) lines.push(line);
    writeFileSync(join(folder, 'lines.jsonl'), `${lines.join('\n')}\n`);
    const imported = await run(['journal', 'import', 'lines.jsonl', '-j', 'journal.db']);
    expect(imported.stderr).toBe('');
    expect((await run(['journal', 'ls', '-j', 'journal.db'])).stdout).toMatch(/Add +Namespace/);
    expect((await run(['journal', 'verify', '-j', 'journal.db'])).code).toBe(0);
  });

  it('has modules of ASCII only, of which V8 keeps one byte a character', async () => {
    const script = join(ROOT, 'scripts/bundle-source.mjs');
    const { bundleSource } = (await import(script)) as {
      readonly bundleSource: (entries: readonly string[], out: string, more: object) => Promise<void>;
    };
    const out = join(folder, 'modules');
    await bundleSource(['cli/main'], out, { packages: 'external' });
    const modules = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.js'));
    expect(modules).toContain('cli/main.js');
    expect(modules.filter(name => /[^\0-\x7f]/.test(readFileSync(join(out, name), 'utf8')))).toEqual([]);
    rmSync(out, { recursive: true });
  });

  it('runs where the home cannot be written, and leaves nothing behind', async () => {
    writeFileSync(join(folder, 'no-home'), '');
    const before = readdirSync(folder).length;
    expect((await run(['--version'], { HOME: join(folder, 'no-home') })).stdout).toMatch(/^\d/);
    expect(readdirSync(folder)).toHaveLength(before);
  });
});
