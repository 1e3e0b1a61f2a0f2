// A certificate by way of the Kubernetes API: a CertificateSigningRequest is made, approved by this control plane, and
// read until its signer has signed it. The object is deleted in every case.
//
// Unlike istiod, a request that is denied or that its signer gives up is not waited for. The API has no call that waits
// here, so the object is read at growing intervals.
// Source: Istio security/pkg/k8s/chiron/utils.go (SignCSRK8s, submitCSR, approveCSR, readSignedCertificate).

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { type ClusterCall, refusalOf } from './cluster-call.ts';

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
/** How long a signer may take. */
export const SIGNED_MS_MAX = 60_000;
const LOOK_MS_MIN = 50;
const LOOK_MS_MAX = 1_000;
/** An approval is written anew after somebody else has changed the object. */
const APPROVALS_MAX = 5;
const CONFLICT = 409;

export interface CsrOrder {
  /** PEM, PKCS #10. */
  readonly csr: string;
  readonly signer: string;
  /** Of the object's name. */
  readonly prefix: string;
  readonly usages: readonly string[];
  /** 0: as the signer likes. */
  readonly seconds: number;
  /** For the approval's message. */
  readonly names: readonly string[];
}

export interface CsrTime {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** PEM as the signer has it. Rejects with what went wrong. */
export async function signedByKubernetes(call: ClusterCall, order: CsrOrder, time: CsrTime): Promise<string> {
  const { csr, signer, prefix, usages, seconds } = order;
  const made = await asked(call, 'POST', PATH, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: prefix },
    spec: {
      request: Buffer.from(csr).toString('base64'),
      signerName: signer,
      usages,
      ...(seconds === 0 ? {} : { expirationSeconds: seconds }),
    },
  });
  const name = textOf(objectOf(made.metadata).name);
  try {
    await approve(call, name, made, order, time);
    return await signed(call, name, signer, time);
  } finally {
    await call('DELETE', `${PATH}/${name}`);
  }
}

async function approve(call: ClusterCall, name: string, made: JsonObject, order: CsrOrder, time: CsrTime) {
  const message = `CSR (${name}) for the certificate (${order.names.join(',')}) is approved`;
  let current = made;
  for (let attempt = 1; ; attempt++) {
    const lastUpdateTime = new Date(time.now()).toISOString().replace(/\.\d+Z$/, 'Z');
    const approval = { type: 'Approved', status: 'True', reason: message, message, lastUpdateTime };
    const { status, body } = await call('PUT', `${PATH}/${name}/approval`, {
      ...current,
      status: { ...objectOf(current.status), conditions: [...conditionsOf(current), approval] },
    });
    if (status >= 200 && status < 300) return;
    if (status !== CONFLICT || attempt === APPROVALS_MAX) {
      throw new Error(`the signing request ${name} cannot be approved: ${refusalOf(status, body)}`);
    }
    current = await asked(call, 'GET', `${PATH}/${name}`);
  }
}

async function signed(call: ClusterCall, name: string, signer: string, { now, sleep }: CsrTime): Promise<string> {
  const end = now() + SIGNED_MS_MAX;
  for (let ms = LOOK_MS_MIN; ; ms = Math.min(LOOK_MS_MAX, ms * 2)) {
    const found = await asked(call, 'GET', `${PATH}/${name}`);
    const certificate = textOf(objectOf(found.status).certificate);
    if (certificate !== '') return Buffer.from(certificate, 'base64').toString('utf8');
    const refusal = conditionsOf(found).find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refusal !== undefined) {
      throw new Error(`the signer ${signer} has not signed: ${textOf(refusal.type)}: ${textOf(refusal.message)}`);
    }
    if (now() + ms > end) throw new Error(`the signer ${signer} has not signed within ${SIGNED_MS_MAX / 1_000} s`);
    await sleep(ms);
  }
}

async function asked(call: ClusterCall, method: 'GET' | 'POST', path: string, body?: Json): Promise<JsonObject> {
  const answer = await call(method, path, body);
  if (answer.status >= 200 && answer.status < 300 && isObject(answer.body)) return answer.body;
  throw new Error(`${method} ${path}: ${refusalOf(answer.status, answer.body)}`);
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function conditionsOf({ status }: JsonObject): readonly JsonObject[] {
  const { conditions } = objectOf(status);
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
}
