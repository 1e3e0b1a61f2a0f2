// The two messages of IstioCertificateService on the wire.
// Source: Istio security/proto/istioca.proto (fields and numbers).

import protobuf from 'protobufjs/light.js';
import type { CertificateRequest } from './csr-service.ts';

/** The typings know no map fields. */
const mapField = { keyType: 'string', type: 'Value', id: 1 } as { readonly type: string; readonly id: number };

const root = protobuf.Root.fromJSON({
  nested: {
    Request: {
      fields: {
        csr: { type: 'string', id: 1 },
        validityDuration: { type: 'int64', id: 3 },
        metadata: { type: 'Struct', id: 4 },
      },
    },
    // Of google.protobuf.Struct, as much as is read.
    Struct: { fields: { fields: mapField } },
    Value: { fields: { stringValue: { type: 'string', id: 3 } } },
    Response: { fields: { certChain: { rule: 'repeated', type: 'string', id: 1 } } },
  },
});
const [request, response] = [root.lookupType('Request'), root.lookupType('Response')];

interface Decoded {
  readonly csr?: string;
  readonly validityDuration?: number;
  readonly metadata?: { readonly fields?: Readonly<Record<string, { readonly stringValue?: string }>> };
}

/**
 * Bytes of a whole message: a request in PEM (REQUEST_BYTES_MAX) and as much beside it. It is decoded before its caller
 * is known, and 4 MiB of metadata take seconds.
 */
export const MESSAGE_BYTES_MAX = 128 * 1024;

/** Throws if the bytes are no such message, or too many. */
export function decodeCertificateRequest(bytes: Uint8Array): CertificateRequest {
  if (bytes.length > MESSAGE_BYTES_MAX) throw new Error(`the message is larger than ${MESSAGE_BYTES_MAX} bytes`);
  const { csr, validityDuration, metadata } = request.toObject(request.decode(bytes), { longs: Number }) as Decoded;
  const member = (name: string): string => {
    const fields = metadata?.fields ?? {};
    return Object.hasOwn(fields, name) ? (fields[name]?.stringValue ?? '') : '';
  };
  return {
    csr: csr ?? '',
    validitySeconds: validityDuration ?? 0,
    impersonated: member('ImpersonatedIdentity'),
    signer: member('CertSigner'),
  };
}

export function encodeCertificateResponse(certChain: readonly string[]): Buffer {
  return Buffer.from(response.encode(response.create({ certChain })).finish());
}

/** For clients: tests and tools speak the same method. */
export function encodeCertificateRequest({ csr, validitySeconds, impersonated, signer }: CertificateRequest): Buffer {
  const fields: Record<string, { stringValue: string }> = { CertSigner: { stringValue: signer } };
  if (impersonated !== '') fields.ImpersonatedIdentity = { stringValue: impersonated };
  const message = request.create({ csr, validityDuration: validitySeconds, metadata: { fields } });
  return Buffer.from(request.encode(message).finish());
}

export function decodeCertificateResponse(bytes: Uint8Array): readonly string[] {
  const { certChain } = response.toObject(response.decode(bytes)) as { readonly certChain?: readonly string[] };
  return certChain ?? [];
}
