// The Secrets that the TLS settings of a server name: of a Gateway's servers and of a Sidecar's ingress listeners.

import type { ServerTLSSettings } from '../../schema/istio-types.gen.ts';
import { each, type Reference, secret } from '../references.ts';

export function serverSecrets(
  path: string,
  namespace: string,
  tls: ServerTLSSettings | undefined,
): readonly Reference[] {
  return [
    ...secret(`${path}.credentialName`, namespace, tls?.credentialName),
    ...each(`${path}.credentialNames`, tls?.credentialNames, (at, name) => secret(at, namespace, name)),
  ];
}
