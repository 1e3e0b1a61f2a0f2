// The HTTP filters that a request passes before it is routed: those of policies are modelled, some are bystanders, the
// others are named as not modelled. They run in their order, also for requests that no route will take.

import type { HttpConnectionManager, HttpFilter } from '../xds/proto/types.gen.ts';
import { messageOf } from './any.ts';
import { askAuthorizer } from './ext-authz.ts';
import type { Headers } from './header-matcher.ts';
import { authenticate } from './jwt.ts';
import type { Outcome } from './prediction.ts';
import type { AuthorizerAnswer, Token } from './question.ts';
import { checkRbac } from './rbac.ts';
import { type DynamicMetadata, type Subject, withMetadata } from './subject.ts';
import { judged, type Trail, unmodelled } from './trail.ts';

/** Filters that neither answer nor reroute an ordinary request. Faults are modelled apart. */
const BYSTANDERS =
  /^(istio\.metadata_exchange|istio\.alpn|istio\.stats|istio_authn|envoy\.filters\.http\.(alpn|cors|fault|router|grpc_stats|grpc_web|set_filter_state|peer_metadata|istio_stats|header_to_metadata|health_check|upstream_codec|stateful_session)|envoy\.(cors|fault|router))$/;

/** A request between filters. */
export interface Passing {
  readonly trail: Trail;
  readonly subject: Subject & { readonly headers: Headers };
  /** Set once a filter has answered, or once its answer is unknown. */
  readonly outcome: Outcome | undefined;
  /** What routes look at if a filter has the route looked up again. */
  readonly reroutedBy: { readonly headers: Headers; readonly metadata: DynamicMetadata } | undefined;
}

export function passFilters(
  hcm: HttpConnectionManager,
  given: Passing,
  tokens: Readonly<Record<string, Token>>,
  authorizer: AuthorizerAnswer | undefined,
): Passing {
  let passing = given;
  for (const filter of hcm.httpFilters ?? []) {
    if (filter.disabled === true) continue;
    passing = pass(filter, passing, tokens, authorizer);
    if (passing.outcome !== undefined) return passing;
  }
  return passing;
}

function pass(
  filter: HttpFilter,
  passing: Passing,
  tokens: Readonly<Record<string, Token>>,
  authorizer: AuthorizerAnswer | undefined,
): Passing {
  const { name = '', typedConfig } = filter;
  const { trail, subject } = passing;
  const rbac = messageOf('envoy.extensions.filters.http.rbac.v3.RBAC', typedConfig);
  if (rbac !== undefined) {
    const checked = checkRbac(trail, 'http filter', name, rbac, subject);
    const { refusal } = checked;
    return {
      ...passing,
      trail: checked.trail,
      subject: { ...subject, metadata: checked.subject.metadata },
      outcome: refusal === undefined ? undefined : { kind: 'answered', status: 403, why: refusal },
    };
  }
  const jwt = messageOf('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication', typedConfig);
  if (jwt !== undefined) {
    const {
      refusal,
      why,
      payloads,
      headers,
      clearsRoute,
      unmodelled: unknown,
    } = authenticate(jwt, subject.headers, tokens);
    const metadata = withMetadata(subject.metadata, 'envoy.filters.http.jwt_authn', payloads);
    const verdict = {
      filter: name,
      kind: 'token',
      passes: refusal === undefined,
      policy: '',
      shadow: false,
      why,
    } as const;
    return {
      trail: judged(unknown.reduce(unmodelled, trail), 'http filter', verdict),
      subject: { ...subject, headers, metadata },
      outcome: refusal === undefined ? undefined : { kind: 'answered', ...refusal },
      reroutedBy: clearsRoute ? { headers, metadata } : passing.reroutedBy,
    };
  }
  const external = messageOf('envoy.extensions.filters.http.ext_authz.v3.ExtAuthz', typedConfig);
  if (external !== undefined) {
    const asked = askAuthorizer(external, subject, authorizer);
    if (asked.kind === 'not asked') return passing;
    const { why } = asked;
    const verdict = { filter: name, kind: 'authorizer', policy: '', shadow: false, why } as const;
    const on = judged(trail, 'http filter', { ...verdict, passes: asked.kind === 'passes' });
    if (asked.kind === 'passes') return { ...passing, trail: on };
    if (asked.kind === 'unknown') return { ...passing, trail: on, outcome: { kind: 'unknown', why } };
    return { ...passing, trail: on, outcome: { kind: 'answered', status: asked.status, why } };
  }
  return BYSTANDERS.test(name) ? passing : { ...passing, trail: unmodelled(trail, name) };
}
