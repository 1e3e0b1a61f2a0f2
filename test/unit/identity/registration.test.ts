// The registration authority before an API server that keeps one object, and a signer that signs, denies, or errs.

import { createHash, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../../src/core/base/json.ts';
import type { ClusterCall } from '../../../src/identity/cluster-call.ts';
import { Registration } from '../../../src/identity/registration.ts';
import { generateKeys, publicKeyDer } from '../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';
import { makeLeaf, makeRoot, type Signer, signerOf } from '../../../src/identity/x509/profile.ts';
import { readRequest } from '../../../src/identity/x509/request.ts';
import { type RequestOptions, signingRequest } from './signing-request.ts';

const ALICE = 'spiffe://cluster.local/ns/shop/sa/alice';
const NOW = Date.parse('2026-11-23T00:00:00Z');
const HOUR_MS = 3_600_000;

let signer: Signer;
let roots: string;
beforeAll(async () => {
  const { privateKey } = await generateKeys({ ec: 'P-256' });
  const made = await makeRoot({ key: privateKey, organization: 'corp', now: NOW - HOUR_MS, ttlMs: 24 * HOUR_MS });
  roots = pemOf('CERTIFICATE', made.der);
  signer = signerOf(new X509Certificate(made.der), privateKey);
});

type Behaviour = 'signs' | 'denies' | 'sleeps' | 'certifies others';

/** One object, as the API keeps it. `conflicts`: approvals that meet a change by somebody else. */
function server(behaviour: Behaviour, conflicts = 0) {
  const said: string[] = [];
  let object: JsonObject = {};
  const answer = (status: number, body: Json) => ({ status, body });
  const certificate = async (): Promise<string> => {
    const { request } = object.spec as { readonly request: string };
    const { spki } = await readRequest(Buffer.from(request, 'base64').toString('utf8'));
    const own = behaviour === 'certifies others' ? publicKeyDer((await generateKeys({ ec: 'P-256' })).publicKey) : spki;
    const leaf = { spki: own, identities: [ALICE], hasCommonName: false, now: NOW, ttlMs: HOUR_MS };
    return pemOf('CERTIFICATE', (await makeLeaf(signer, leaf)).der);
  };
  const call: ClusterCall = async (method, path, body) => {
    said.push(`${method} ${path.replace(/.*certificatesigningrequests/, '')}`);
    if (method === 'POST' && isObject(body ?? null)) {
      object = { ...(body as JsonObject), metadata: { name: 'csr-1' } };
      return answer(201, object);
    }
    if (method === 'PUT') {
      if (conflicts-- > 0) return answer(409, { message: 'changed' });
      object = body as JsonObject;
      return answer(200, object);
    }
    if (method === 'GET' && behaviour === 'denies') {
      const refusal = { type: 'Denied', status: 'True', message: 'not today' };
      return answer(200, { ...object, status: { conditions: [refusal] } });
    }
    if (method === 'GET' && behaviour !== 'sleeps' && JSON.stringify(object).includes('Approved')) {
      const text = Buffer.from(await certificate()).toString('base64');
      return answer(200, { ...object, status: { certificate: text } });
    }
    return answer(200, object);
  };
  return { call, said, object: () => object };
}

function registration(call: ClusterCall, more: Partial<ConstructorParameters<typeof Registration>[0]> = {}) {
  let now = NOW;
  const time = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const options = { call, signer: 'corp.example/mesh', signerDomain: '', maxTtlMs: 24 * HOUR_MS, roots, time };
  return new Registration({ ...options, signerRoots: () => [], ...more });
}

async function asked(of: Registration, options: RequestOptions = {}, more: { seconds?: number; signer?: string } = {}) {
  const { pem } = await signingRequest({ names: [ALICE], ...options });
  const request = { csr: pem, validitySeconds: more.seconds ?? 0, impersonated: '', signer: more.signer ?? '' };
  return of.sign(request, [ALICE]).catch((error: unknown) => String(error));
}

describe('the registration authority', () => {
  it('hands a request on, approves it, answers with certificate and root, and deletes the object', async () => {
    const { call, said, object } = server('signs');
    const issued = await asked(registration(call), {}, { seconds: 600 });
    if (typeof issued === 'string') throw new Error(issued);
    const [leaf, root] = issued.certChain;
    expect(new X509Certificate(leaf!).subjectAltName).toContain(ALICE);
    expect(root).toBe(roots);
    expect(createHash('sha256').update(issued.leaf).digest('hex')).toBe(
      createHash('sha256').update(new X509Certificate(leaf!).raw).digest('hex'),
    );
    expect(said).toEqual(['POST ', 'PUT /csr-1/approval', 'GET /csr-1', 'DELETE /csr-1']);
    expect(object().spec).toMatchObject({
      signerName: 'corp.example/mesh',
      expirationSeconds: 600,
      usages: ['digital signature', 'key encipherment', 'server auth', 'client auth'],
    });
  });

  it('approves anew what somebody else has changed meanwhile', async () => {
    const { call, said } = server('signs', 2);
    expect(typeof (await asked(registration(call)))).toBe('object');
    expect(said.filter(line => line.startsWith('PUT'))).toHaveLength(3);
  });

  it.each<readonly [string, RequestOptions]>([
    ['no identity', { names: [] }],
    ['another identity', { names: ['spiffe://cluster.local/ns/shop/sa/bob'] }],
    ['a DNS name', { names: [ALICE, 'shop.example.com'] }],
    ['two identities', { names: [ALICE, ALICE] }],
    ['a subject', { commonName: 'alice' }],
  ])('hands on no request for %s', async (_, options) => {
    const { call, said } = server('signs');
    expect(await asked(registration(call), options)).toContain('unable to validate SAN Identities in CSR');
    expect(said).toEqual([]);
  });

  it('tells at once that a request is denied, and deletes it', async () => {
    const { call, said } = server('denies');
    expect(await asked(registration(call))).toContain('Denied: not today');
    expect(said.at(-1)).toBe('DELETE /csr-1');
  });

  it('waits a minute for a signer, and deletes the object then', async () => {
    const { call, said } = server('sleeps');
    expect(await asked(registration(call))).toContain('has not signed within 60 s');
    expect(said.at(-1)).toBe('DELETE /csr-1');
  });

  it('answers with no certificate of another key', async () => {
    expect(await asked(registration(server('certifies others').call))).toContain('certified another key');
  });

  it('grants no longer life than is allowed', async () => {
    expect(await asked(registration(server('signs').call), {}, { seconds: 100_000 })).toContain(
      'requested TTL 27h46m40s is greater than the max allowed TTL 24h0m0s',
    );
  });

  it('knows signers of its domain alone, with their roots of MeshConfig', async () => {
    const { call, object } = server('signs');
    expect(await asked(registration(call), {}, { signer: 'team' })).toContain('certSignerDomain is required');
    const signerRoots = () => [{ pem: roots, certSigners: ['corp.example/team'] }];
    const named = registration(call, { signerDomain: 'corp.example', roots: '', signerRoots });
    const issued = await asked(named, {}, { signer: 'team' });
    expect(typeof issued === 'string' ? issued : issued.certChain.at(-1)).toBe(roots);
    expect(object().spec).toMatchObject({ signerName: 'corp.example/team' });
    expect(await asked(named)).toContain('no root is known of the signer corp.example/mesh');
  });

  it('answers with nothing that does not verify with the root', async () => {
    const { privateKey } = await generateKeys({ ec: 'P-256' });
    const made = await makeRoot({ key: privateKey, organization: 'other', now: NOW - HOUR_MS, ttlMs: 24 * HOUR_MS });
    const other = pemOf('CERTIFICATE', made.der);
    expect(await asked(registration(server('signs').call, { roots: other }))).toContain(
      'does not verify with its root',
    );
  });
});
