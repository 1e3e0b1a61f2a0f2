// The real parts: etcd from the distribution, kube-apiserver built once from the module beside this folder and kept in
// the user's cache. Needs Go for the build and, if etcd is missing, root and apt. A missing binary is named;
// PERIPLUS_REQUIRE_ALL=1 makes it a failure.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface Binaries {
  readonly etcd: string;
  readonly apiserver: string;
}

const MODULE = join(import.meta.dirname, '../kube-apiserver');
const VERSION = 'k8s.io/component-base/version';
/** As kubectl would see it; the module's go.mod has the same. */
const LDFLAGS = `-s -w -X ${VERSION}.gitVersion=v1.35.4 -X ${VERSION}.gitMajor=1 -X ${VERSION}.gitMinor=35`;
const BUILD_MS_MAX = 30 * 60_000;

/** Undefined, and a line that says why, if they cannot be had here. */
export async function kubeOrSkip(): Promise<Binaries | undefined> {
  try {
    return { etcd: await etcd(), apiserver: await apiserver() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error(`kube-apiserver is required: ${why}`);
    console.warn(`NOT RUN: the tests against a real kube-apiserver: ${why}`);
    return undefined;
  }
}

async function etcd(): Promise<string> {
  const found = find('etcd');
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || find('apt-get') === undefined) {
    throw new Error('there is no etcd (Debian: apt-get install etcd-server)');
  }
  await run('apt-get', ['update']);
  await run('apt-get', ['install', '-y', 'etcd-server']);
  const installed = find('etcd');
  if (installed === undefined) throw new Error('etcd-server was installed and there is no etcd');
  return installed;
}

function apiserver(): Promise<string> {
  return builtModule('kube-apiserver', MODULE, LDFLAGS);
}

/** The program of a Go module, kept in the user's cache under the hash of what it is built from. */
export async function builtModule(name: string, folder: string, ldflags: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(folder, file)));
  const cache = process.env.PERIPLUS_CACHE ?? join(homedir(), '.cache/periplus');
  const binary = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(binary)) return binary;
  const go = find('go');
  if (go === undefined) throw new Error(`there is no Go to build ${name} with`);
  mkdirSync(cache, { recursive: true });
  const part = `${binary}.${process.pid}`;
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-o', part, '.'];
  process.stderr.write(`building ${name}, which takes some minutes the first time\n`);
  await run(go, args, folder);
  renameSync(part, binary);
  return binary;
}

/** Not a call that blocks: the test runner wants to hear from its workers. */
export async function run(
  command: string,
  args: readonly string[],
  cwd = MODULE,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...more };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], timeout: BUILD_MS_MAX });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString('utf8')}`.slice(-2_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${said}`);
}

export function find(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin'];
  return folders.map(folder => join(folder, name)).find(path => existsSync(path));
}
