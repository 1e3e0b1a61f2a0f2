// The roots that workloads are to trust, as far as the state knows them: undefined until an authority has said which they are.

import type { Reader } from '../query/reader.ts';

export interface PublishedRoots {
  /** PEM, one or more certificates. */
  readonly pem: string;
  /** PEM; '': no certificate is revoked. */
  readonly crl: string;
}

export function publishedRoots(_reader: Reader): PublishedRoots | undefined {
  return undefined;
}
