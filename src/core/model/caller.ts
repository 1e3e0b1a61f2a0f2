// The other end of a connection: what the wire shows of it (Peer), the identity that it proves, and how (Caller). All
// of it is public: it is recorded with the connection. A token or a key is never part of it.

/** How a caller proved who it is. Public: recorded with the connection. Never a token or a key. */
export type Proof =
  /** sha256 of the client certificate. */
  | { readonly how: 'certificate'; readonly fingerprint: string }
  /** A Kubernetes token; `by`: the API server said so, or its published keys did. */
  | {
      readonly how: 'token';
      readonly by: 'review' | 'keys';
      readonly cluster: string;
      readonly pod?: { readonly name: string; readonly uid: string };
    }
  | { readonly how: 'oidc'; readonly issuer: string }
  /** An authenticated stream that asks for its certificate: how it was proven stands with the connection. */
  | { readonly how: 'stream' }
  /** A trusted proxy in front of us said so. */
  | { readonly how: 'forwarded'; readonly peer: string };

/** Who is at the other end of a stream or a call. */
export interface Caller {
  /** At least one: SPIFFE ids, and whatever other names a certificate holds. */
  readonly identities: readonly string[];
  readonly proof: Proof;
}

/** What the wire shows of the other end. */
export interface Peer {
  /** IP address; '' for a Unix socket. */
  readonly address: string;
  /** The connection is encrypted. */
  readonly secure: boolean;
  /** DER of the client certificate, which the handshake has verified. */
  readonly certificate?: Uint8Array;
  /** Values of a request header, in order. */
  header(name: string): readonly string[];
}
