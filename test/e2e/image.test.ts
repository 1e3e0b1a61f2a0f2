// The steps of deploy/Dockerfile without a container engine: packed from this checkout, installed into an empty folder,
// run as uid 1337 on a root that is read-only, with one volume. No image is built here. Also what the package contains,
// and its bill of materials.

import { execFile, spawn } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from './free-port.ts';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const UID = 1337;
const PACKED_BYTES_MAX = 8 << 20;
const CONFIG = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: out, namespace: shop }
spec: { hosts: [out.example], ports: [{ number: 443, name: tls, protocol: TLS }], resolution: DNS }
`;

const isRoot = process.getuid?.() === 0;
const possible = canRun('the steps of the Dockerfile', isRoot ? undefined : 'mounting a read-only root needs root');

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

describe('the package', () => {
  let folder: string;
  let packed: Packed;
  let child: ReturnType<typeof spawn> | undefined;
  let log = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-image-'));
    // dist/ is built before the end-to-end tests.
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const { stdout } = await run('npm', args, { cwd: ROOT, maxBuffer: 64 << 20 });
    packed = (JSON.parse(stdout) as readonly Packed[])[0]!;
  }, 300_000);

  afterAll(async () => {
    child?.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  it('has the program, the schema of the journal, manifests and documents, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    for (const path of ['dist/cli/main.js', 'dist/index.d.ts', 'deploy/Dockerfile', 'LICENSE', 'README.md']) {
      expect(paths).toContain(path);
    }
    expect(paths.some(path => /^journal\/schema\/.*\.sql$/.test(path))).toBe(true);
    const allowed =
      /^(dist|journal\/schema|samples|deploy|docs)\/|^(LICENSE|(journal\/)?README\.md|CHANGELOG\.md|package\.json)$/;
    expect(paths.filter(path => !allowed.test(path))).toEqual([]);
    expect(paths.filter(path => /\.test\.|\.key$|\.pem$|\.db$|tsbuildinfo/.test(path))).toEqual([]);
    expect(packed.size).toBeLessThan(PACKED_BYTES_MAX);
  });

  it('has a bill of materials with a licence and a digest for each package that it brings', async () => {
    const { stdout } = await run('npm', ['run', '-s', 'sbom'], { cwd: ROOT, maxBuffer: 64 << 20 });
    const { bomFormat, components } = JSON.parse(stdout) as {
      readonly bomFormat: string;
      readonly components: readonly {
        readonly name: string;
        readonly version: string;
        readonly licenses?: readonly object[];
        readonly hashes?: readonly object[];
      }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
      readonly devDependencies: Readonly<Record<string, string>>;
    };
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
    expect(names).not.toContain('vitest');
    for (const { name, licenses = [], hashes = [] } of components) {
      expect([name, licenses.length > 0, hashes.length > 0]).toEqual([name, true, true]);
    }
  }, 120_000);

  describe.runIf(possible)('installed as the Dockerfile installs it', () => {
    it('follows the steps that the file has', async () => {
      const text = await readFile(join(ROOT, 'deploy/Dockerfile'), 'utf8');
      for (const step of [
        /npm pack --pack-destination/,
        /npm install --global --omit=dev \/tmp\/\*\.tgz/,
        /ln -s .*pilot-discovery/,
        /^USER 1337:1337$/m,
        /^WORKDIR \/$/m,
        /^VOLUME \/var\/lib\/periplus$/m,
        /^CMD \["discovery", "--journal=\/var\/lib\/periplus\/journal\.db"\]$/m,
        /npm run -s sbom/,
      ]) {
        expect(text).toMatch(step);
      }
    });

    it('serves as uid 1337 from a read-only root, answers bug-report, and ends on SIGTERM', async () => {
      const [prefix, volume, config] = [join(folder, 'usr'), join(folder, 'volume'), join(folder, 'config')];
      for (const path of [prefix, volume, config]) await mkdir(path);
      await chmod(folder, 0o755);
      await chown(volume, UID, UID);
      await writeFile(join(config, 'mesh.yaml'), CONFIG);
      const tarball = join(folder, packed.filename);
      // Compiling takes minutes; the library of this checkout is for the same machine.
      const flagsOfNpm = ['--global', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', prefix];
      await run('npm', ['install', ...flagsOfNpm, tarball], { maxBuffer: 64 << 20 });
      const library = 'node_modules/better-sqlite3/build';
      await cp(join(ROOT, library), join(prefix, 'lib/node_modules/periplus', library), {
        recursive: true,
        dereference: true,
      });
      await symlink(join(prefix, 'bin/periplus'), join(prefix, 'bin/pilot-discovery'));
      const ports = { http: await freePort(), monitoring: await freePort(), grpc: await freePort() };
      const inside = (...command: readonly string[]): readonly string[] => [
        '--mount',
        '--propagation=private',
        'sh',
        '-c',
        `mount --bind "$0" "$0" && mount -o remount,bind,ro / &&
         cd / && exec setpriv --reuid=${UID} --regid=${UID} --clear-groups -- "$@"`,
        volume,
        ...command,
      ];
      const program = [process.execPath, join(prefix, 'bin/pilot-discovery')];
      const flags = [
        `--journal=${join(volume, 'journal.db')}`,
        `--configDir=${config}`,
        `--httpAddr=127.0.0.1:${ports.http}`,
        `--monitoringAddr=127.0.0.1:${ports.monitoring}`,
        `--grpcAddr=127.0.0.1:${ports.grpc}`,
        '--secureGrpcAddr=',
        '--httpsAddr=',
        '--ctrlz_port=0',
      ];
      const env = { PATH: process.env.PATH, HOME: '/' };
      child = spawn('unshare', inside(...program, 'discovery', ...flags), { env, stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr?.on('data', (chunk: Buffer) => {
        log += chunk.toString('utf8');
      });
      await until('ready', async () => {
        if (child?.exitCode !== null) throw new Error(`it ended: ${log}`);
        return (await fetch(`http://127.0.0.1:${ports.http}/ready`).catch(() => undefined))?.status === 200;
      });
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t1337\t1337/m);
      const { stdout } = await run(process.execPath, [
        join(prefix, 'bin/pilot-discovery'),
        ...['request', 'GET', 'debug/configz', '--monitoringPort', String(ports.monitoring)],
      ]);
      expect(stdout).toContain('out.example');
      await expect(run('unshare', inside('touch', '/usr/periplus-was-here'))).rejects.toThrow(/[Rr]ead-only/);
      const ended = new Promise<number | null>(resolve => child?.once('exit', resolve));
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(log).toContain('stopped');
    }, 600_000);
  });
});
