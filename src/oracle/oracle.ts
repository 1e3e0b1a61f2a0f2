// The routing oracle: a model of how Envoy decides what to do with a connection and the request in it. Pure; it knows
// nothing of the generators, so its answer is an independent check of their resources. A case outside the model is
// `unknown`, never a guess.

import { TrafficDirection } from '../xds/proto/types.gen.ts';
import { type Socket, showSocket } from './address.ts';
import type { KnownResources } from './exchange.ts';
import { chooseChain } from './filter-chain.ts';
import { serve } from './http.ts';
import { inspect } from './inspect.ts';
import { type CapturePorts, DEFAULT_CAPTURE, Listeners, type Taken, take } from './listener.ts';
import { endsTls, proxied, terminalOf } from './network.ts';
import type { Branch, Prediction } from './prediction.ts';
import type { Connection, ProxyConfig } from './question.ts';
import { end, start, step, unmodelled } from './trail.ts';
import type { Hints } from './upstream.ts';

/** From TEST-NET-1: no range of a configuration that matters holds it. */
const SOMEBODY: Socket = { address: '192.0.2.1', port: 50_000 };

/** Listener filters that are modelled, or change nothing that is. */
const LISTENER_FILTERS =
  /^envoy\.filters\.listener\.(original_dst|original_src|tls_inspector|http_inspector)$|^envoy\.listener\./;

export interface Oracle {
  /** What happens to this connection, and to the request in it. Total: it never throws on well-typed configuration. */
  readonly predict: (connection: Connection) => Prediction;
}

/** An oracle for what one proxy holds. Of several resources with one name the last counts. */
export function oracleOf(config: ProxyConfig, capture: CapturePorts = DEFAULT_CAPTURE): Oracle {
  const listeners = new Listeners(config.listeners);
  const known: KnownResources = {
    routes: new Map(config.routes.map(route => [route.name ?? '', route])),
    clusters: new Map(config.clusters.map(cluster => [cluster.name ?? '', cluster])),
    endpoints: new Map(config.endpoints.map(assignment => [assignment.clusterName ?? '', assignment])),
  };
  return { predict: connection => ({ branches: sorted(branchesOf(listeners, known, connection, capture)) }) };
}

function branchesOf(
  listeners: Listeners,
  known: KnownResources,
  connection: Connection,
  capture: CapturePorts,
): readonly Branch[] {
  const taken = take(start, listeners, connection, capture);
  if (taken === undefined) return end(start, { kind: 'closed', why: 'no listener has this address' });
  const branches = behind(taken, known, connection);
  return taken.listener.trafficDirection === TrafficDirection.INBOUND ? branches : branches.map(withBeyond);
}

/** The policies of a destination act in its own proxy, so the configuration of this one does not tell about them. */
function withBeyond(branch: Branch): Branch {
  const { outcome } = branch;
  if (outcome.kind !== 'forwarded') return branch;
  return { ...branch, beyond: [`the policies of the destination, in the proxy of ${showSocket(outcome.endpoint)}`] };
}

/** From the listener on. */
function behind(taken: Taken, known: KnownResources, connection: Connection): readonly Branch[] {
  const { listener, local } = taken;
  let { trail } = taken;
  if (listener.filterChainMatcher !== undefined || listener.fcdsConfig !== undefined) {
    return end(trail, { kind: 'unknown', why: 'filter chains chosen by a matcher tree' });
  }
  for (const { name = '' } of listener.listenerFilters ?? []) {
    if (!LISTENER_FILTERS.test(name)) trail = unmodelled(trail, name);
  }
  const detected = inspect(listener, connection, local.port);
  if ('halted' in detected) return end(trail, { kind: detected.halted, why: detected.why });
  const remote = connection.source ?? SOMEBODY;
  const chosen = chooseChain(listener, { local, remote, detected });
  const on = step(trail, 'filter chain', chosen.name, chosen.why, chosen.passedOver);
  if (chosen.chain === undefined) return end(on, { kind: 'closed', why: chosen.why });
  if (chosen.twin !== undefined) {
    return end(on, { kind: 'unknown', why: `Envoy refuses the listener: ${chosen.twin} matches just as well` });
  }
  const terminal = terminalOf(on, chosen.chain, connection, { local, remote, serverName: detected.serverName });
  if (terminal.kind === 'ended') return terminal.branches;
  const terminates = endsTls(chosen.chain);
  const restored = connection.arrives !== 'direct' && local === connection.destination;
  const hints: Hints = {
    originalDestination: restored || connection.arrives === 'direct' ? local : undefined,
    named: detected.serverName,
    header: undefined,
    metadataMatch: undefined,
  };
  if (terminal.kind === 'tcp') return proxied(terminal.trail, terminal, known, hints);
  const opaque = connection.http === undefined || (connection.tls !== undefined && !terminates);
  if (opaque) return end(terminal.trail, { kind: 'closed', why: 'the filter chain expects HTTP and sees other bytes' });
  const arrived = {
    request: connection.http!,
    authorizer: connection.authorizer,
    terminated: terminates ? connection.tls : undefined,
    subject: terminal.subject,
  };
  return serve(terminal.trail, known, terminal.hcm, arrived, hints);
}

function sorted(branches: readonly Branch[]): readonly Branch[] {
  return [...branches].sort((a, b) => b.probability - a.probability);
}
