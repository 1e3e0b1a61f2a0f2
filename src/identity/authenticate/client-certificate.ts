// A client certificate that the handshake has verified: every alternative name of it is an identity, in order.
// Source: Istio pkg/security/security.go, security/pkg/server/ca/authenticate (ClientCertAuthenticator).

import { createHash } from 'node:crypto';
import { alternativeNamesOf } from '../x509/names.ts';
import type { Authenticator } from './authenticator.ts';

export const clientCertificate: Authenticator = {
  name: 'client certificate',
  authenticate: async ({ certificate }) => {
    if (certificate === undefined) return { kind: 'none', reason: 'no client certificate' };
    const names = alternativeNamesOf(certificate);
    if (names === undefined) return { kind: 'refused', reason: 'the client certificate has no alternative names' };
    const fingerprint = createHash('sha256').update(certificate).digest('hex');
    const identities = names.map(({ text }) => text);
    return { kind: 'proven', caller: { identities, proof: { how: 'certificate', fingerprint } } };
  },
};
