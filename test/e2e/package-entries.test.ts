// The entries of the package in programs of their own: packed from dist/, beside nothing but its dependencies. Types
// compile and modules load in ES modules and in CommonJS; imports are cheap and load no large library that is not used
// yet; a missing fast-check is named.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
/** CPU ms of `import`, on top of Node's own start: goals, times what a machine that does other things adds. */
const IMPORT_MS_MAX = { periplus: 1_000, 'periplus/oracle': 300, 'periplus/testing': 300 };
const LOAD_FACTOR = 2;

const CONSUMER = `
import { MemoryAdapter, type ServeOptions, settingsFrom } from 'periplus';
import { type Adapter, FoldingSink, Submissions } from 'periplus/adapter';
import { openHistory } from 'periplus/history';
import { openMemoryJournal } from 'periplus/journal';
import { heldIn, oracleOf, type Prediction } from 'periplus/oracle';
import { anyHistory, numbered } from 'periplus/testing';

export const options: Partial<ServeOptions> = {};
export const adapter: Adapter = new MemoryAdapter('mine');
export const machines: number = new FoldingSink('mine').state.objects.WorkloadEntry.size;
export const used = [settingsFrom, Submissions, openHistory, openMemoryJournal, anyHistory, numbered];

const service = 'apiVersion: v1\\nkind: Service\\nmetadata: {name: a, namespace: b}\\nspec: {clusterIP: 10.0.0.1, ports: [{name: http, port: 80}]}';
const node = { id: 'sidecar~10.1.0.1~a.b~b.svc.cluster.local', metadata: { NAMESPACE: 'b' } };
heldIn({ files: { 'a.yaml': service } }, node).then(held => {
  const found: Prediction = oracleOf(held).predict({ arrives: 'outbound', destination: { address: '10.0.0.1', port: 80 } });
  console.log(found.branches.length, used.every(one => typeof one === 'function'));
});
`;

describe('the packed entries', () => {
  let folder: string;
  const node = (...args: readonly string[]) => run(process.execPath, args, { cwd: folder });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-entries-'));
    const modules = join(folder, 'node_modules');
    await mkdir(join(modules, '@types'), { recursive: true });
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT, maxBuffer: 64 << 20 });
    const [packed = ''] = (await readdir(folder)).filter(name => name.endsWith('.tgz'));
    await run('tar', ['-xzf', packed], { cwd: folder });
    await run('mv', ['package', join(modules, 'periplus')], { cwd: folder });
    for (const name of await readdir(join(ROOT, 'node_modules'))) {
      if (name.startsWith('.') || ['periplus', '@types', 'fast-check'].includes(name)) continue;
      await symlink(join(ROOT, 'node_modules', name), join(modules, name));
    }
    for (const name of ['node', 'better-sqlite3']) {
      await symlink(join(ROOT, 'node_modules/@types', name), join(modules, '@types', name));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('say what to install where fast-check is missing', async () => {
    const failed = await node('--input-type=module', '--eval', 'import "periplus/testing"').catch(error => error);
    expect(failed.stderr).toContain('npm install --save-dev fast-check');
  });

  it('compile and run in ES modules and in CommonJS', async () => {
    await symlink(join(ROOT, 'node_modules/fast-check'), join(folder, 'node_modules/fast-check'));
    await writeFile(join(folder, 'esm.mts'), CONSUMER);
    await writeFile(join(folder, 'common.cts'), CONSUMER);
    const options = ['--module', 'nodenext', '--target', 'es2023', '--strict', '--types', 'node'];
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const compiled = await node(tsc, ...options, 'esm.mts', 'common.cts').catch(error => error);
    expect(compiled.stdout).toBe('');
    expect(await node('esm.mjs')).toEqual({ stdout: '1 true\n', stderr: '' });
    expect(await node('common.cjs')).toEqual({ stdout: '1 true\n', stderr: '' });
  });

  it.each(Object.keys(IMPORT_MS_MAX))('%s loads large libraries only when one is used', async entry => {
    const loaded = `import { createRequire } from 'node:module';
      await import(${JSON.stringify(entry)});
      const names = Object.keys(createRequire(import.meta.url).cache).map(path => /node_modules.([^/]+)/.exec(path)?.[1]);
      console.log([...new Set(names)].join(' '))`;
    const { stdout } = await node('--input-type=module', '--eval', loaded);
    const names = stdout.trim().split(' ');
    expect(names).not.toContain('yaml');
    expect(names).not.toContain('re2js');
    if (entry !== 'periplus/oracle') expect(names).toContain('fp-ts');
  });

  it.each(Object.entries(IMPORT_MS_MAX))('%s is imported in %d ms of CPU', async (entry, max) => {
    const spent = async (code: string): Promise<number> => {
      const report = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
      const { stdout } = await node('--input-type=module', '--eval', `${code}; ${report}`);
      return Number(stdout);
    };
    const empty = await spent('0');
    const loaded = await spent(`await import(${JSON.stringify(entry)})`);
    expect(loaded - empty).toBeLessThan(max * LOAD_FACTOR);
  });
});
