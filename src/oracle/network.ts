// A filter chain on a connection: it terminates TLS or fails to, applies policies, and passes the bytes to its terminal
// filter, an HTTP connection manager or a TCP proxy.

import type {
  CommonTlsContext,
  Filter,
  FilterChain,
  HttpConnectionManager,
  StringMatcher,
  TcpProxy,
} from '../xds/proto/types.gen.ts';
import type { Socket } from './address.ts';
import { messageOf, typeIn } from './any.ts';
import { askAuthorizer } from './ext-authz.ts';
import type { Branch, Outcome } from './prediction.ts';
import type { Connection } from './question.ts';
import { checkRbac } from './rbac.ts';
import { matchesString } from './string-matcher.ts';
import { peerOf, type Subject } from './subject.ts';
import { end, judged, step, type Trail, unmodelled, weigh } from './trail.ts';
import { type Hints, reach, type Upstreams } from './upstream.ts';

/** Filters that see connections go by and let all of them go on. */
const BYSTANDERS = [
  'istio.metadata_exchange',
  'envoy.filters.network.metadata_exchange',
  'istio.stats',
  'envoy.filters.network.set_filter_state',
  'envoy.filters.network.sni_cluster',
  'istio_authn',
  'forward_downstream_sni',
  'connection_limit',
  'envoy.filters.network.mongo_proxy',
  'envoy.filters.network.mysql_proxy',
  'envoy.filters.network.postgres_proxy',
  'envoy.filters.network.zookeeper_proxy',
];

export type Terminal =
  | { readonly kind: 'http'; readonly trail: Trail; readonly hcm: HttpConnectionManager; readonly subject: Subject }
  | { readonly kind: 'tcp'; readonly trail: Trail; readonly proxy: TcpProxy; readonly namedBySni: boolean }
  | { readonly kind: 'ended'; readonly branches: readonly Branch[] };

/** The properties of a connection at the choice of its filter chain. */
export interface Accepted {
  readonly local: Socket;
  readonly remote: Socket;
  readonly serverName: string;
}

export function terminalOf(trail: Trail, chain: FilterChain, connection: Connection, accepted: Accepted): Terminal {
  const refused = tlsRefusal(chain, connection);
  if (refused !== undefined) return ended(end(trail, { kind: 'closed', why: refused }));
  let on = trail;
  let namedBySni = false;
  let subject: Subject = {
    peer: peerOf(chain, connection),
    direct: accepted.remote.address,
    remote: accepted.remote.address,
    local: accepted.local,
    serverName: accepted.serverName,
    headers: undefined,
    metadata: new Map(),
  };
  for (const filter of chain.filters ?? []) {
    const found = terminal(filter);
    // What network filters found out is no metadata of requests.
    if (found?.kind === 'http') return { ...found, trail: on, subject: { ...subject, metadata: new Map() } };
    if (found !== undefined) return { ...found, trail: on, namedBySni };
    const checked = checkPolicies(on, filter, subject, connection);
    if (checked !== undefined) {
      if (checked.outcome !== undefined) return ended(end(checked.trail, checked.outcome));
      [on, subject] = [checked.trail, checked.subject];
      continue;
    }
    namedBySni ||= filter.name === 'envoy.filters.network.sni_cluster';
    if (BYSTANDERS.includes(filter.name ?? '')) continue;
    on = unmodelled(on, filter.name ?? '');
  }
  const last = chain.filters?.at(-1)?.name;
  const why = last === undefined ? 'a filter chain without filters' : `network filter ${last} as the last one`;
  return ended(end(on, last === undefined ? { kind: 'closed', why } : { kind: 'unknown', why }));
}

interface CheckedConnection {
  readonly trail: Trail;
  readonly subject: Subject;
  /** Undefined: the connection goes on. */
  readonly outcome: Outcome | undefined;
}

/** Undefined: no filter of policies. They decide at the first byte that the client sends. */
function checkPolicies(
  trail: Trail,
  { name = '', typedConfig }: Filter,
  subject: Subject,
  { authorizer }: Connection,
): CheckedConnection | undefined {
  const rbac = messageOf('envoy.extensions.filters.network.rbac.v3.RBAC', typedConfig);
  if (rbac !== undefined) {
    const { refusal, ...checked } = checkRbac(trail, 'network filter', name, rbac, subject);
    return { ...checked, outcome: refusal === undefined ? undefined : { kind: 'closed', why: refusal } };
  }
  const external = messageOf('envoy.extensions.filters.network.ext_authz.v3.ExtAuthz', typedConfig);
  if (external === undefined) return undefined;
  const decision = askAuthorizer(external, subject, authorizer);
  if (decision.kind === 'not called') return { trail, subject, outcome: undefined };
  const { kind, why } = decision;
  const passes = kind === 'passes';
  const verdict = { filter: name, kind: 'authorizer', passes, policy: '', shadow: false, why } as const;
  const outcome = passes ? undefined : ({ kind: kind === 'unknown' ? 'unknown' : 'closed', why } as const);
  return { trail: judged(trail, 'network filter', verdict), subject, outcome };
}

const ended = (branches: readonly Branch[]): Terminal => ({ kind: 'ended', branches });

function terminal(
  filter: Filter,
):
  | { readonly kind: 'http'; readonly hcm: HttpConnectionManager }
  | { readonly kind: 'tcp'; readonly proxy: TcpProxy }
  | undefined {
  const { typedConfig } = filter;
  const hcm = messageOf(
    'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    typedConfig,
  );
  if (hcm !== undefined) return { kind: 'http', hcm };
  const proxy = messageOf('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', typedConfig);
  return proxy === undefined ? undefined : { kind: 'tcp', proxy };
}

/** Why the handshake fails; undefined if there is none to fail. */
function tlsRefusal(chain: FilterChain, { tls }: Connection): string | undefined {
  const context = messageOf(
    'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
    chain.transportSocket?.typedConfig,
  );
  if (context === undefined) return undefined;
  if (tls === undefined) return 'the filter chain expects TLS, the client speaks plaintext';
  if (context.requireClientCertificate?.value === true && tls.certificate === undefined) {
    return 'the filter chain demands a client certificate, the client presents none';
  }
  const names = namesWanted(context.commonTlsContext ?? {});
  if (tls.certificate === undefined || names.length === 0) return undefined;
  const isNamed = names.some(name => matchesString(name, tls.certificate ?? ''));
  return isNamed ? undefined : 'the filter chain refuses the name in the client certificate';
}

/** Those that the peer's certificate must have one of; none: any. */
function namesWanted({ validationContext, combinedValidationContext }: CommonTlsContext): readonly StringMatcher[] {
  const context = validationContext ?? combinedValidationContext?.defaultValidationContext ?? {};
  const typed = (context.matchTypedSubjectAltNames ?? []).flatMap(({ matcher }) => matcher ?? []);
  return [...typed, ...(context.matchSubjectAltNames ?? [])];
}

/** Whether the chain ends TLS, so that the filters see the decrypted bytes. */
export function endsTls(chain: FilterChain): boolean {
  return typeIn(chain.transportSocket?.typedConfig).endsWith('.DownstreamTlsContext');
}

/** A TCP proxy sends the connection to one cluster, or to one of several by weight. */
export function proxied(
  trail: Trail,
  terminal: Extract<Terminal, { kind: 'tcp' }>,
  upstreams: Upstreams,
  hints: Hints,
): readonly Branch[] {
  const { proxy, namedBySni } = terminal;
  const to = (on: Trail, name: string): readonly Branch[] =>
    reach(on, upstreams, name, hints, {
      reached: (there, target) =>
        end(there, {
          kind: 'forwarded',
          protocol: 'tcp',
          cluster: target.cluster,
          endpoint: target.endpoint,
          mirrors: [],
          hashPolicy: [],
        }),
      noHost: (there, why) => end(there, { kind: 'closed', why }),
      noCluster: (there, why) => end(there, { kind: 'closed', why }),
    });
  const on = (why: string): Trail => step(trail, 'network filter', 'tcp_proxy', why);
  if (namedBySni && hints.named !== '') return to(on('goes to the cluster that the server name says'), hints.named);
  if (proxy.cluster) return to(on(`goes to ${proxy.cluster}`), proxy.cluster);
  const weighted = (proxy.weightedClusters?.clusters ?? []).map(({ weight = 0, name = '' }) => [weight, name] as const);
  return weigh(on('goes to one of several by weight'), weighted, to, none =>
    end(none, { kind: 'closed', why: 'the TCP proxy has no cluster' }),
  );
}
