// The roots that workloads are to trust, as far as the state knows them: undefined until an authority has said which
// they are.

import type { Reader } from '../query/reader.ts';
import { AUTHORITY_NAME } from '../select/proxy/proxy-capabilities.ts';

export interface PublishedRoots {
  /** PEM, one or more certificates. */
  readonly pem: string;
  /** PEM; '': no certificate is revoked. */
  readonly crl: string;
}

export function publishedRoots(reader: Reader): PublishedRoots | undefined {
  const anchors = reader.object('TrustAnchors', `${reader.setting('clusterId')}/${AUTHORITY_NAME}`);
  if (anchors === undefined || anchors.spec.roots === '') return undefined;
  return { pem: anchors.spec.roots, crl: anchors.spec.crl };
}
