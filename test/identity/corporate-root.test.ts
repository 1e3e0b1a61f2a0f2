// The guide's corporate root: its commands run with openssl, the control plane takes what they make, and openssl
// verifies what it signs.

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient } from './client.ts';
import { artefactsOf, expectNone } from './kept.ts';
import { type TestPlane, testPlane } from './plane.ts';

const GUIDE = join(import.meta.dirname, '../../docs/guides/identity.md');

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return true;
  } catch {
    if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error('test/identity/corporate-root.test.ts: no openssl');
    process.stderr.write('test/identity/corporate-root.test.ts did NOT run: no openssl\n');
    return false;
  }
}

/** The commands below the heading. */
function commands(heading: string): string {
  const text = readFileSync(GUIDE, 'utf8');
  const [, found] = /```bash\n([\s\S]*?)```/.exec(text.slice(text.indexOf(heading))) ?? [];
  return found ?? '';
}

describe.runIf(hasOpenssl())('a plugged-in corporate root, as the guide makes it', () => {
  let folder: string;
  let plane: TestPlane;
  const port = (): number => plane.plane.ports.secureGrpc ?? 0;
  const file = (name: string): string => join(folder, 'etc/cacerts', name);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'periplus-corporate-'));
    execFileSync('bash', ['-ec', commands('### A plugged-in corporate root')], { cwd: folder, stdio: 'pipe' });
    mkdirSync(join(folder, 'plane'));
    plane = await testPlane({ folder: join(folder, 'plane'), env: { ROOT_CA_DIR: join(folder, 'etc/cacerts') } });
  });
  afterAll(async () => {
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('signs with the intermediate, and openssl verifies the chain with the root', async () => {
    const token = plane.tokens.token('shop/alice');
    const client = new TestClient({ port: port(), roots: plane.roots(), token });
    const chain = await client.sign((await signingRequest()).pem);
    client.close();
    if (typeof chain === 'string') throw new Error(chain);
    const [leaf, ...rest] = chain;
    writeFileSync(file('leaf.pem'), leaf!);
    writeFileSync(file('rest.pem'), rest.slice(0, -1).join(''));
    expect(rest.at(-1)).toBe(readFileSync(file('root-cert.pem'), 'utf8'));
    const verify = ['verify', '-x509_strict', '-CAfile', file('root-cert.pem'), '-untrusted', file('rest.pem')];
    expect(execFileSync('openssl', [...verify, file('leaf.pem')], { encoding: 'utf8' })).toContain(': OK');
    const shown = ['x509', '-in', file('leaf.pem'), '-noout', '-ext', 'subjectAltName'];
    expect(execFileSync('openssl', shown, { encoding: 'utf8' })).toContain(
      'URI:spiffe://cluster.local/ns/shop/sa/alice',
    );
  });

  it('serves the secure port by a certificate that openssl verifies with the root', async () => {
    const connect = ['s_client', '-connect', `127.0.0.1:${port()}`, '-alpn', 'h2'];
    const names = ['-servername', 'istiod.istio-system.svc', '-verify_hostname', 'istiod.istio-system.svc'];
    const running = promisify(execFile)('openssl', [...connect, ...names, '-CAfile', file('root-cert.pem')]);
    running.child.stdin?.end();
    expect((await running).stdout).toContain('Verify return code: 0 (ok)');
  });

  it('keeps and shows neither the key of the intermediate nor that of a request, nor a token', async () => {
    const token = plane.tokens.token('shop/bob');
    const client = new TestClient({ port: port(), roots: plane.roots(), token });
    const { pem, key } = await signingRequest();
    expect(typeof (await client.sign(pem))).toBe('object');
    client.close();
    const requested = key.export({ format: 'pem', type: 'pkcs8' }) as string;
    const artefacts = await artefactsOf(plane);
    expectNone(artefacts, { keys: [readFileSync(file('ca-key.pem'), 'utf8'), requested], tokens: [token] });
    expect(artefacts.get('events')).toContain('"kind":"CertificateIssued"');
  });
});
