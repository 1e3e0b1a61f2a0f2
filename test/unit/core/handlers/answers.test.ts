// Answers of the outside and of this control plane's own authority, which are objects of `periplus.internal/v1`
// (docs/adr/0009). Sources: Istio pilot/pkg/model/jwks_resolver.go (pushFunc), pilot/pkg/bootstrap/server.go
// (initSDSServer).

import { describe } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { deletes, rows, says } from './rows.ts';

const answer = (kind: string, name: string, spec: JsonObject, namespace?: string): JsonObject => ({
  apiVersion: 'periplus.internal/v1',
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  spec,
});
const keys = answer('JwksDocument', 'issuer', { issuer: 'https://issuer.example', jwksUri: '', keys: '{"keys":[]}' });
const roots = answer('TrustAnchors', 'istio-ca', { roots: 'PEM', mode: 'self-signed' });
const bundle = answer('SpiffeBundle', 'other', { url: 'https://other.example', certificates: ['PEM'] });
const certificate = answer(
  'WorkloadCertificate',
  'a',
  { identity: 'spiffe://cluster.local/ns/default/sa/a', chain: 'PEM', fingerprint: 'f' },
  'default',
);
const access = answer('SecretAccess', 'a', { allowed: true }, 'default');

describe('an answer pushes', () => {
  rows([
    ['everything for other keys of an issuer', [], says(keys), 'full forced unknown'],
    ['everything for keys that are served no more', [keys], deletes(keys), 'full forced unknown'],
    ['everything for roots of the mesh', [], says(roots), 'full forced global TrustAnchors//istio-ca'],
    ['everything for the roots of another trust domain', [], says(bundle), 'full forced global SpiffeBundle//other'],
    ['secrets alone for a certificate', [], says(certificate), 'incremental secret WorkloadCertificate/default/a'],
    ['secrets alone for a right to read them', [], says(access), 'incremental secret SecretAccess/default/a'],
  ]);
});
