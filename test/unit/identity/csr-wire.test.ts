import { describe, expect, it } from 'vitest';
import {
  decodeCertificateRequest,
  encodeCertificateRequest,
  MESSAGE_BYTES_MAX,
} from '../../../src/identity/csr-wire.ts';

describe('a signing request on the wire', () => {
  const request = { csr: 'pem', validitySeconds: 60, impersonated: 'spiffe://td/ns/a/sa/b', signer: 'x' };

  it('is read as it was written', () => {
    expect(decodeCertificateRequest(encodeCertificateRequest(request))).toEqual(request);
  });

  it('is refused unread if it is larger than any that an agent sends', () => {
    const large = encodeCertificateRequest({ ...request, csr: 'x'.repeat(MESSAGE_BYTES_MAX) });
    expect(() => decodeCertificateRequest(large)).toThrow(/larger than/);
  });
});
