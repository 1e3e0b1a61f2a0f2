// The roots that the control plane is verified with, as far as the state knows them: those of its certificate files,
// else its authority's. Undefined until one of both has said which they are.
// Source: Istio pilot/pkg/bootstrap/server.go (initSecureWebhookServer, getIstiodCertSource), certcontroller.go.

import type { Reader } from '../query/reader.ts';
import { AUTHORITY_NAME, SERVING_NAME } from '../select/proxy/proxy-capabilities.ts';

export interface PublishedRoots {
  /** PEM, one or more certificates. */
  readonly pem: string;
  /** PEM; '': no certificate is revoked. */
  readonly crl: string;
  /** False: this control plane signs nothing, and the authority that signs brings the roots to the namespaces. */
  readonly areDistributed: boolean;
}

export function publishedRoots(reader: Reader): PublishedRoots | undefined {
  const anchors = (name: string) => reader.object('TrustAnchors', `${reader.setting('clusterId')}/${name}`)?.spec;
  const authority = anchors(AUTHORITY_NAME);
  const pem = anchors(SERVING_NAME)?.roots || authority?.roots;
  if (!pem) return undefined;
  return { pem, crl: authority?.crl ?? '', areDistributed: authority !== undefined && authority.roots !== '' };
}
