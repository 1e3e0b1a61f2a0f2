import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pluggedIn, signingBundle, whyNotReplaced } from '../../../src/identity/bundle.ts';
import { rootInFiles } from '../../../src/identity/root-in-files.ts';
import { combinedRoots, ensureRoot, isRenewalDue, renewedRoot } from '../../../src/identity/root-store.ts';
import { privateKeyOf } from '../../../src/identity/x509/keys.ts';
import { certificateBlocks } from '../../../src/identity/x509/pem.ts';
import { makeLeaf, signerOf } from '../../../src/identity/x509/profile.ts';
import { readRequest } from '../../../src/identity/x509/request.ts';
import { DAY_MS, NOW, selfSignedBundle, testRoot } from './authority-of-tests.ts';
import { signingRequest } from './signing-request.ts';

const folders: string[] = [];
const options = { crl: true, generatedCounts: false };

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'periplus-ca-'));
  folders.push(made);
  return join(made, 'ca');
}

afterAll(async () => {
  for (const made of folders) await rm(made, { recursive: true });
});

const rootOptions = { organization: 'cluster.local', ttlMs: 3_650 * DAY_MS, keyBits: 2_048, now: () => NOW };

describe('a signing bundle', () => {
  it('is refused if certificate, key and roots do not belong together', async () => {
    const [one, other] = [await testRoot('one'), await testRoot('other')];
    const texts = {
      mode: 'plugged-in',
      certificate: one.certificate,
      key: one.key,
      chain: '',
      roots: one.certificate,
    } as const;
    expect(() => signingBundle({ ...texts, key: other.key }, NOW)).toThrow('does not belong');
    expect(() => signingBundle({ ...texts, roots: other.certificate }, NOW)).toThrow('not signed by any');
    expect(() => signingBundle({ ...texts, roots: '' }, NOW)).toThrow('no root certificate');
    expect(() => signingBundle(texts, NOW + 20_000 * DAY_MS)).toThrow('expired');
  });

  it('is refused if the certificate may not sign others', async () => {
    const root = await testRoot();
    const { pem, key } = await signingRequest();
    const { spki } = await readRequest(pem);
    const leaf = await makeLeaf(root.signer, {
      spki,
      identities: ['x'],
      hasCommonName: false,
      now: NOW,
      ttlMs: DAY_MS,
    });
    const certificate = new X509Certificate(leaf.der).toString();
    const texts = { mode: 'plugged-in', certificate, chain: '', roots: root.certificate } as const;
    const text = key.export({ format: 'pem', type: 'pkcs8' }) as string;
    expect(() => signingBundle({ ...texts, key: text }, NOW)).toThrow('not authorized to sign');
  });

  it('is refused without quoting a key that cannot be read', () => {
    const bad = '-----BEGIN PRIVATE KEY-----\nU0VDUkVUU0VDUkVU\n-----END PRIVATE KEY-----\n';
    expect(() => privateKeyOf(bad)).toThrow(/^the key in the block PRIVATE KEY cannot be read$/);
  });
});

describe('files of a plugged-in authority', () => {
  const files = (...names: readonly string[]) => new Map(names.map(name => [name, `<${name}>`]));

  it('are used if all exist, refused if some are missing, and ignored if none exists', () => {
    expect(pluggedIn(files(), options)).toBe('none');
    expect(pluggedIn(files('root-cert.pem'), options)).toBe('incomplete');
    expect(pluggedIn(files('ca-cert.pem', 'ca-key.pem', 'root-cert.pem'), options)).toBe('incomplete');
    expect(
      pluggedIn(files('ca-cert.pem', 'ca-key.pem', 'root-cert.pem', 'cert-chain.pem', 'ca-crl.pem'), options),
    ).toEqual({
      texts: {
        mode: 'plugged-in',
        certificate: '<ca-cert.pem>',
        key: '<ca-key.pem>',
        chain: '<cert-chain.pem>\n',
        roots: '<root-cert.pem>',
        crl: '<ca-crl.pem>',
      },
    });
  });

  it('in the form of cert-manager chain the certificate and its authority', () => {
    const { texts } = pluggedIn(files('tls.crt', 'tls.key', 'ca.crt', 'ca-crl.pem'), options) as { texts: object };
    expect(texts).toMatchObject({ certificate: '<tls.crt>', roots: '<ca.crt>', chain: '<tls.crt>\n<ca.crt>\n' });
    expect(texts).not.toHaveProperty('crl');
  });

  it('count as self-signed if istiod made them', () => {
    const all = files('ca-cert.pem', 'ca-key.pem', 'root-cert.pem', 'cert-chain.pem', 'istio-generated');
    expect(pluggedIn(all, options)).toBe('generated');
  });

  it('may exchange roots only with several roots switched on, and only in steps', async () => {
    const [one, other] = [await testRoot('one'), await testRoot('other')];
    const bundle = (root: typeof one, roots: string) =>
      signingBundle(
        { mode: 'plugged-in', certificate: root.certificate, key: root.key, chain: root.certificate, roots },
        NOW,
      );
    const first = bundle(one, one.certificate);
    const both = bundle(one, one.certificate + other.certificate);
    const second = bundle(other, other.certificate);
    expect(whyNotReplaced(first, both, false)).toContain('Multi root is disabled');
    expect(whyNotReplaced(first, both, true)).toBeUndefined();
    expect(whyNotReplaced(both, second, true)).toBeUndefined();
    expect(whyNotReplaced(first, second, true)).toContain('add the new root first');
  });
});

describe('a self-signed root', () => {
  it('is the same for all processes that create it together or later', async () => {
    const path = await folder();
    const made = await Promise.all([1, 2, 3].map(() => ensureRoot(rootInFiles(path), rootOptions)));
    const later = await ensureRoot(rootInFiles(path), rootOptions);
    expect(new Set([...made, later].map(({ certificate }) => certificate)).size).toBe(1);
  });

  it('lies in files that only their owner may read', async () => {
    const path = await folder();
    const { key } = await ensureRoot(rootInFiles(path), rootOptions);
    expect(await readFile(join(path, 'ca-key.pem'), 'utf8')).toBe(key);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const name of ['ca-key.pem', 'ca-cert.pem', 'root-cert.pem']) {
      expect((await stat(join(path, name))).mode & 0o777).toBe(0o600);
    }
  });

  it('keeps key, subject and key id when it is renewed, so that old leaves verify with it', async () => {
    const path = await folder();
    const store = rootInFiles(path);
    const before = await ensureRoot(store, { ...rootOptions, organization: 'old.domain' });
    const { version } = (await store.read())!;
    const signer = signerOf(new X509Certificate(before.certificate), privateKeyOf(before.key));
    const later = { ...rootOptions, now: () => NOW + DAY_MS };
    const after = await renewedRoot(before, signer, later);
    expect(await store.update(after, version)).toBe(true);
    expect(await store.update(after, version)).toBe(false);
    const { pem } = await signingRequest();
    const request = {
      spki: (await readRequest(pem)).spki,
      identities: ['x'],
      hasCommonName: false,
      now: NOW,
      ttlMs: DAY_MS,
    };
    const leaf = new X509Certificate((await makeLeaf(signer, request)).der);
    const root = new X509Certificate((await store.read())!.certificate);
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
    expect(signerOf(root, privateKeyOf(after.key)).keyId).toEqual(signer.keyId);
    expect(root.validTo).not.toBe(signer.certificate.validTo);
  });

  it('is due for renewal in the last part of its life', async () => {
    const { signer } = await testRoot('x', 100 * DAY_MS);
    expect(isRenewalDue(signer.certificate, 20, NOW + 79 * DAY_MS)).toBe(false);
    expect(isRenewalDue(signer.certificate, 20, NOW + 80 * DAY_MS)).toBe(true);
  });

  it('is handed out with further roots, each once', async () => {
    const [one, other] = [await testRoot('one'), await testRoot('other')];
    const roots = combinedRoots(one.certificate, `# ours\n${other.certificate}${one.certificate}`);
    expect(certificateBlocks(roots)).toHaveLength(2);
    expect(selfSignedBundle(one).chain).toEqual([]);
  });
});
