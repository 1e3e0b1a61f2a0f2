// A signer of the Kubernetes API for tests: signs what is approved, with a root of its own for each signer's name; what
// is approved for the name `…/none` is denied. The rights of an administrator stand in for a signer's.

import { X509Certificate } from 'node:crypto';
import type { Call } from '../../../src/adapters/kube/calls.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { generateKeys } from '../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';
import { makeLeaf, makeRoot, type Signer, signerOf } from '../../../src/identity/x509/profile.ts';
import { readRequest } from '../../../src/identity/x509/request.ts';

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LOOK_MS = 100;
const HOUR_MS = 3_600_000;

interface Csr {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly request: string; readonly signerName: string };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string }[];
  };
}

export class TestSigner {
  /** Names of objects that have been seen. */
  readonly seen = new Set<string>();
  readonly #call: Call;
  readonly #signers = new Map<string, { readonly signer: Signer; readonly roots: string }>();
  #isStopped = false;
  #work: Promise<void> = Promise.resolve();

  constructor(call: Call) {
    this.#call = call;
  }

  /** PEM of the root that signs for this name. */
  async add(name: string): Promise<string> {
    const { privateKey } = await generateKeys({ ec: 'P-256' });
    const root = { key: privateKey, organization: name, now: Date.now() - HOUR_MS, ttlMs: 24 * HOUR_MS };
    const made = await makeRoot(root);
    const roots = pemOf('CERTIFICATE', made.der);
    this.#signers.set(name, { signer: signerOf(new X509Certificate(made.der), privateKey), roots });
    return roots;
  }

  start(): void {
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  /** Objects that are there. */
  async list(): Promise<readonly Csr[]> {
    const { body } = await this.#call('GET', PATH);
    return ((body as { readonly items?: readonly Csr[] }).items ?? []) as readonly Csr[];
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      for (const csr of await this.list()) await this.#answer(csr);
      await new Promise(resolve => setTimeout(resolve, LOOK_MS));
    }
  }

  async #answer(csr: Csr): Promise<void> {
    const { metadata, spec, status = {} } = csr;
    this.seen.add(metadata.name);
    const types = (status.conditions ?? []).map(({ type }) => type);
    if (status.certificate !== undefined || !types.includes('Approved') || types.includes('Failed')) return;
    const found = this.#signers.get(spec.signerName);
    const at = new Date().toISOString();
    const failed = { type: 'Failed', status: 'True', reason: 'Test', message: 'no such signer', lastUpdateTime: at };
    const next =
      found === undefined
        ? { ...status, conditions: [...(status.conditions ?? []), failed] }
        : {
            ...status,
            certificate: Buffer.from(await this.#certificate(spec.request, found.signer)).toString('base64'),
          };
    const object = { ...csr, apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', status: next };
    await this.#call('PUT', `${PATH}/${metadata.name}/status`, object as unknown as JsonObject);
  }

  async #certificate(request: string, signer: Signer): Promise<string> {
    const { spki, names = [] } = await readRequest(Buffer.from(request, 'base64').toString('utf8'));
    const identities = names.map(({ text }) => text);
    const leaf = { spki, identities, hasCommonName: false, now: Date.now(), ttlMs: HOUR_MS };
    return pemOf('CERTIFICATE', (await makeLeaf(signer, leaf)).der);
  }
}
