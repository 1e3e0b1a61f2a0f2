// The oracle's input: one proxy's resources, and a connection that reaches it.

import type { Cluster, ClusterLoadAssignment, Listener, RouteConfiguration } from '../xds/proto/types.gen.ts';
import type { Socket } from './address.ts';

/** All that decides where a proxy sends traffic, as it was sent by xDS. */
export interface ProxyConfig {
  readonly listeners: readonly Listener[];
  readonly routes: readonly RouteConfiguration[];
  readonly clusters: readonly Cluster[];
  readonly endpoints: readonly ClusterLoadAssignment[];
}

/**
 * How a connection comes to the proxy: taken by interception on its way out of the workload, or on its way in, or
 * addressed to the proxy itself (a gateway, or a sidecar without interception).
 */
export type Arrival = 'outbound' | 'inbound' | 'direct';

export interface Connection {
  readonly arrives: Arrival;
  /** Where the client believes to connect to. */
  readonly destination: Socket;
  /** Default: an address that is neither the proxy's own nor in any range. */
  readonly source?: Socket;
  /** The client begins with a TLS handshake; the rest is sent inside it. */
  readonly tls?: TlsHello;
  /** The HTTP request. Absent: bytes that are not HTTP. */
  readonly http?: HttpRequest;
  /** The client waits for the server to speak first, as MySQL's does. Not with `tls` or `http`. */
  readonly serverFirst?: boolean;
  /** The answers of external authorizers. Default: the question leaves it open, and the outcome is unknown. */
  readonly authorizer?: AuthorizerAnswer;
}

/** `fails`: no answer in time, or an error. */
export type AuthorizerAnswer = 'allows' | 'denies' | 'fails';

export interface TlsHello {
  /** Server name indication. */
  readonly sni?: string;
  /** Application protocols offered, in the client's order. */
  readonly alpn?: readonly string[];
  /** The URI in the certificate that the client presents, such as spiffe://cluster.local/ns/a/sa/b. */
  readonly certificate?: string;
}

export interface HttpRequest {
  /** Default GET. */
  readonly method?: string;
  /** The Host or :authority header, with a port where the client sends one. */
  readonly authority: string;
  /** With the query. Default `/`; a CONNECT has none. */
  readonly path?: string;
  /** Names in any case; several values of one header joined with commas. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default HTTP/1.1. */
  readonly version?: '1.0' | '1.1' | '2';
  /**
   * The JSON Web Tokens that stand in headers, query parameters or cookies, by the text that stands there (letters,
   * digits, `-`, `_`, `.`). Any other text where a token is expected is one that cannot be decoded.
   */
  readonly tokens?: Readonly<Record<string, Token>>;
}

/** A decoded token. */
export interface Token {
  /** With `iss`, `sub`, `aud` where it has them. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Default: the issuer's key signed it. False: another key did. */
  readonly genuine?: boolean;
  /** Its time is over, or has not begun. */
  readonly expired?: boolean;
}
