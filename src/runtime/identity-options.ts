// What an operator may say about the secure port and the certificate authority: istiod's flags and variables, and our
// own for keys of tokens.

import type { IdentitySettings } from '../identity/settings.ts';
import type { SecureTls } from '../identity/tls-settings.ts';

/** How Kubernetes tokens are judged: by asking the API server each time, or by its published keys and the state. */
export type TokenCheck = 'review' | 'keys';

export interface IdentityOptions {
  readonly settings: IdentitySettings;
  /** Undefined: there is no secure port. */
  readonly secureGrpcAddr: { readonly host: string; readonly port: number } | undefined;
  readonly tls: SecureTls;
  /** Files of the serving certificate; each may be absent. */
  readonly servingFiles: {
    readonly certificate?: string;
    readonly key?: string;
    readonly roots?: string;
  };
  /** Where a root of our own is kept when there is no cluster. */
  readonly caFolder: string;
  readonly tokenCheck: TokenCheck;
  /** A file with the keys of tokens (RFC 7517), and who issues them; undefined: those of the API server. */
  readonly tokenKeys?: { readonly file: string; readonly issuer: string };
  /** Nothing is created or changed in the cluster. */
  readonly readOnly: boolean;
}
