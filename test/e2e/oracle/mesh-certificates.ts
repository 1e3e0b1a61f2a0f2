// A mesh's root, the certificate of the workload that an Envoy plays, and those of its callers, all of one key: who is
// who is in the names.

import { createHash, X509Certificate } from 'node:crypto';
import type { Unrecorded } from '../../../src/core/event.ts';
import { identityObject } from '../../../src/core/kinds/periplus/identity.ts';
import { parseSpiffe } from '../../../src/core/model/identity.ts';
import { AUTHORITY_NAME } from '../../../src/core/select/proxy/proxy-capabilities.ts';
import { generateKeys, keyDigest, privateKeyPem, publicKeyDer } from '../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';
import { makeLeaf, makeRoot, signerOf } from '../../../src/identity/x509/profile.ts';

export interface MeshCertificates {
  /** PEM, of every leaf. */
  readonly key: string;
  /** The root, and the certificate of the workload. */
  readonly facts: readonly Unrecorded[];
  /** PEM. The same name has the same certificate. */
  leaf(identity: string): Promise<string>;
}

const SOURCE = 'identity/Kubernetes';
const HOUR_MS = 3_600_000;

export async function meshCertificates(workload: string): Promise<MeshCertificates> {
  const authority = await generateKeys({ ec: 'P-256' });
  const pair = await generateKeys({ ec: 'P-256' });
  const now = Date.now();
  const root = await makeRoot({
    key: authority.privateKey,
    organization: 'test',
    now: now - HOUR_MS,
    ttlMs: 24 * HOUR_MS,
  });
  const roots = pemOf('CERTIFICATE', root.der);
  const signer = signerOf(new X509Certificate(root.der), authority.privateKey);
  const spki = publicKeyDer(pair.publicKey);
  const known = new Map<string, string>();
  const leaf = async (identity: string): Promise<string> => {
    const made = known.get(identity) ?? pemOf('CERTIFICATE', (await leafOf(identity)).der);
    known.set(identity, made);
    return made;
  };
  const leafOf = (identity: string) =>
    makeLeaf(signer, { spki, identities: [identity], hasCommonName: false, now, ttlMs: HOUR_MS });
  const own = await leafOf(workload);
  const { namespace = '', serviceAccount = '' } = parseSpiffe(workload) ?? {};
  const anchors = { roots, chain: '', keyDigest: keyDigest(spki), mode: 'self-signed' };
  const fingerprint = createHash('sha256').update(own.der).digest('hex');
  const certificate = { identity: workload, chain: pemOf('CERTIFICATE', own.der), fingerprint };
  return {
    key: privateKeyPem(pair.privateKey),
    leaf,
    facts: [
      { source: SOURCE, kind: 'Add', object: identityObject('TrustAnchors', '', AUTHORITY_NAME, anchors) },
      {
        source: SOURCE,
        kind: 'Add',
        object: identityObject('WorkloadCertificate', namespace, serviceAccount, certificate),
      },
    ],
  };
}
