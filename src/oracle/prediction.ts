// The oracle's answer: for every random outcome the steps that led there, each with its reason, and the result. A
// value, made to be compared in tests and read in a failure (explain.ts makes text of it).

import type { Duration, Locality, RetryPolicy, RouteAction_HashPolicy } from '../xds/proto/types.gen.ts';
import type { HttpRequest } from './question.ts';

export interface Prediction {
  /** Sorted by probability, likeliest first. Probabilities are above 0 and add up to 1. */
  readonly branches: readonly Branch[];
}

export interface Branch {
  readonly probability: number;
  readonly steps: readonly Step[];
  readonly outcome: Outcome;
  /** Filters on the way that the oracle does not model and that may decide otherwise (Wasm, Lua …). */
  readonly unmodelled: readonly string[];
  /**
   * What decides after this proxy and is no part of its configuration: the policies of the destination's own proxy.
   * Empty if the way ends here or at the workload.
   */
  readonly beyond: readonly string[];
  /** What filters of policies decided on the way, in their order. The last one that refuses made the outcome. */
  readonly verdicts: readonly Verdict[];
}

/** The decision of a filter of policies (RBAC, JWT, external authorization) about a connection or a request. */
export interface Verdict {
  /** The filter's name, such as envoy.filters.http.rbac. */
  readonly filter: string;
  readonly kind: 'allow' | 'deny' | 'log' | 'token' | 'authorizer';
  readonly passes: boolean;
  /** The key of the first policy that matches, such as `ns[a]-policy[b]-rule[0]`; '' if none does. */
  readonly policy: string;
  /** Recorded, without effect: shadow rules. */
  readonly shadow: boolean;
  readonly why: string;
}

export type Stage =
  | 'listener'
  | 'listener filter'
  | 'filter chain'
  | 'network filter'
  | 'http filter'
  | 'route configuration'
  | 'virtual host'
  | 'route'
  | 'cluster'
  | 'endpoint';

export interface Step {
  readonly stage: Stage;
  /** The name of what was chosen; '' if nothing was. */
  readonly name: string;
  readonly why: string;
  /** The candidates that did not match: `name: reason`. */
  readonly passedOver: readonly string[];
}

export type Outcome = Forwarded | Answered | Closed | Stuck | Unknown;

/** It goes on to a host of a cluster. */
export interface Forwarded {
  readonly kind: 'forwarded';
  readonly cluster: string;
  readonly endpoint: ChosenEndpoint;
  readonly protocol: 'http' | 'tcp';
  /**
   * The request as the upstream gets it (path and authority rewritten); of headers, what token rules add and remove is
   * modelled.
   */
  readonly request?: HttpRequest;
  readonly mirrors: readonly Mirror[];
  /** The route's, absent for Envoy's default of 15 s. Zero: none. */
  readonly timeout?: Duration;
  readonly retryPolicy?: RetryPolicy;
  readonly hashPolicy: readonly RouteAction_HashPolicy[];
  /** A fault that is injected before: the request waits. */
  readonly delay?: Duration;
}

export interface Mirror {
  readonly cluster: string;
  /** 0 … 1 of the requests. */
  readonly share: number;
}

export interface ChosenEndpoint {
  /** An IP address or a DNS name; the path of a pipe; the name of a listener within Envoy. */
  readonly address: string;
  /** 0 for pipes and listeners within Envoy. */
  readonly port: number;
  readonly locality: Locality;
  readonly priority: number;
  readonly transport: Transport;
}

/** The transport between the proxy and the endpoint. */
export interface Transport {
  readonly kind: 'plaintext' | 'tls' | 'unknown';
  /** The transport socket match that applies, '' if the cluster has one socket for all. */
  readonly match: string;
  readonly sni: string;
  readonly alpn: readonly string[];
  /** Whether a client certificate is presented. */
  readonly presents: boolean;
}

/** Envoy itself answers: no route, a redirect, a direct response, a fault, no host to send it to. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly why: string;
  /** Of a redirect. */
  readonly location?: string;
}

/** The connection ends. */
export interface Closed {
  readonly kind: 'closed';
  readonly why: string;
}

/** Both sides wait for ever. */
export interface Stuck {
  readonly kind: 'stuck';
  readonly why: string;
}

/** The configuration uses a feature that the oracle does not model, or refers to an absent resource. */
export interface Unknown {
  readonly kind: 'unknown';
  readonly why: string;
}
