// One request, from a proxy to where it ends: what the caller's Envoy does with it, and what the proxy in front of
// each workload it may reach does then. By the oracle, on the configuration that Periplus makes for both.
//
// Invariant: nothing is left open silently. What the answer rests on and what is not modelled, not enforced or not
// known is in `open`, one sentence each.

import type { Obj } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { findingsOf } from '../offline/findings.ts';
import { oracleOf } from '../oracle/oracle.ts';
import type { Branch, ChosenEndpoint, Prediction } from '../oracle/prediction.ts';
import type { Connection, HttpRequest } from '../oracle/question.ts';
import { type AccessAnswer, askAccess, gateOf } from './access/ask.ts';
import { callerIdentity } from './access/identity.ts';
import { workloadNamed } from './access/workload.ts';
import { HistoryFault } from './history-fault.ts';
import { holdingsOf } from './holdings.ts';
import { nearestText } from './nearest.ts';
import { proxiesOrPodsAt } from './proxies.ts';

export interface TraceQuestion {
  /** A proxy or a service, as people call it. */
  readonly from: string;
  /** `host:port`, `host`, `service.namespace:port` or an address. */
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes that are not HTTP. */
  readonly tcp: boolean;
}

export interface Arrived {
  readonly endpoint: string;
  /** Id of the proxy there; absent: none is known. */
  readonly proxy?: string;
  /** What that proxy does; absent without one. */
  readonly allowed?: AccessAnswer['allowed'];
  readonly why: string;
}

export interface Trace {
  readonly from: string;
  readonly authority: string;
  /** Where the client connects to. */
  readonly destination: string;
  readonly prediction: Prediction;
  /** The ends of the branches, each once. */
  readonly arrived: readonly Arrived[];
  readonly open: readonly string[];
}

/** From TEST-NET-3: a host of which the mesh knows no address. */
const SOMEWHERE = '203.0.113.1';
const HTTP_PORT = 80;

/** Throws a HistoryFault that names the nearest proxies or services. */
export function trace(tracker: Tracker, given: State, question: TraceQuestion): Trace {
  const { state, proxy, name } = workloadNamed(given, question.from);
  const target = targetOf(state, proxy, question.to);
  const holdings = holdingsOf(tracker, state, proxy);
  const [own = ''] = proxy.facets.ips;
  const gate = gateOf(holdings, own, proxy.facets.type === 'router');
  const http = requestOf(target.authority, question);
  const destination = { address: gate.router ? own : target.address, port: target.port };
  const connection: Connection = {
    arrives: gate.router ? 'direct' : 'outbound',
    destination,
    ...(http === undefined ? {} : { http }),
  };
  const prediction = oracleOf(gate.config).predict(connection);
  const ends = endsOf(prediction);
  const arrived = ends.map(({ endpoint, request }) => arrivedAt(tracker, state, proxy, endpoint, request ?? http));
  return {
    from: name,
    authority: target.authority,
    destination: `${destination.address}:${destination.port}`,
    prediction,
    arrived,
    open: [...new Set([...target.open, ...openOf(prediction, arrived), ...notEnforced(state)])],
  };
}

function requestOf(authority: string, { tcp, method, path, headers }: TraceQuestion): HttpRequest | undefined {
  if (tcp) return undefined;
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === 'host');
  return { method, path, authority: given?.[1] ?? authority, headers };
}

interface Target {
  readonly authority: string;
  readonly address: string;
  readonly port: number;
  readonly open: readonly string[];
}

function targetOf(state: State, proxy: ProxyRecord, to: string): Target {
  const [, host = to, text] = /^(.*?)(?::([0-9]+))?$/.exec(to) ?? [];
  const given = text === undefined ? undefined : Number(text);
  const service = serviceOf(state, proxy, host);
  const port = given ?? service?.spec.ports?.[0]?.port ?? HTTP_PORT;
  const authority = port === HTTP_PORT ? host : `${host}:${port}`;
  if (/^[0-9.]+$|:/.test(host)) return { authority, address: host, port, open: [] };
  if (service !== undefined) {
    const address = service.spec.clusterIP ?? '';
    if (address !== '' && address !== 'None') return { authority, address, port, open: [] };
    return { authority, address: SOMEWHERE, port, open: [`${host} is headless: the pod that DNS gives is not known`] };
  }
  for (const { spec } of state.objects.ServiceEntry.values() as Iterable<Obj<'ServiceEntry'>>) {
    if (spec.hosts?.includes(host) !== true) continue;
    const [address] = (spec.addresses ?? []).filter(one => !one.includes('/'));
    if (address !== undefined) return { authority, address, port, open: [] };
    return {
      authority,
      address: SOMEWHERE,
      port,
      open: [`${host} has no address in the mesh: ${SOMEWHERE} stands for it`],
    };
  }
  if (!host.includes('.')) {
    const names = [...(state.objects.Service.values() as Iterable<Obj<'Service'>>)].map(one => one.name);
    throw new HistoryFault(
      `--to ${to}: there is no service ${host} in ${proxy.facets.namespace}${nearestText(host, names)}`,
    );
  }
  return { authority, address: SOMEWHERE, port, open: [`${host} is no host of the mesh: ${SOMEWHERE} stands for it`] };
}

/** `reviews`, `reviews.shop`, `reviews.shop.svc.cluster.local`. */
function serviceOf({ objects, settings }: State, proxy: ProxyRecord, host: string): Obj<'Service'> | undefined {
  const [name = '', namespace = proxy.facets.namespace, ...rest] = host.split('.');
  const suffix = rest.join('.');
  if (suffix !== '' && suffix !== 'svc' && suffix !== `svc.${settings.domainSuffix}`) return undefined;
  return [...(objects.Service.values() as Iterable<Obj<'Service'>>)].find(
    one => one.name === name && one.namespace === namespace,
  );
}

interface End {
  readonly endpoint: ChosenEndpoint;
  readonly request: HttpRequest | undefined;
}

function endsOf({ branches }: Prediction): readonly End[] {
  const found = new Map<string, End>();
  for (const { outcome } of branches) {
    if (outcome.kind !== 'forwarded') continue;
    const { endpoint, request } = outcome;
    found.set(`${endpoint.address}:${endpoint.port}`, { endpoint, request });
  }
  return [...found.values()];
}

/** What the proxy in front of an endpoint does with the request. */
function arrivedAt(
  tracker: Tracker,
  state: State,
  caller: ProxyRecord,
  { address, port, transport }: ChosenEndpoint,
  http: HttpRequest | undefined,
): Arrived {
  const endpoint = `${address}:${port}`;
  const there = proxiesOrPodsAt(state).find(({ facets }) => facets.type === 'sidecar' && facets.ips.includes(address));
  if (there === undefined)
    return { endpoint, why: 'no proxy is connected there: policies at the workload are not asked' };
  const gate = gateOf(holdingsOf(tracker, state, there), address, false);
  const identity = transport.presents ? callerIdentity(state, caller) : undefined;
  const { allowed, why } = askAccess(gate, { identity, port, http, source: caller.facets.ips[0] });
  return { endpoint, proxy: there.facets.id, allowed, why };
}

function openOf({ branches }: Prediction, arrived: readonly Arrived[]): readonly string[] {
  const unmodelled = new Set(branches.flatMap((branch: Branch) => branch.unmodelled));
  const unknown = arrived.filter(({ allowed }) => allowed === 'unknown');
  const unasked = arrived.filter(({ proxy }) => proxy === undefined);
  return [
    ...[...unmodelled].map(filter => `the filter ${filter} is not modelled and may decide otherwise`),
    ...unknown.map(({ endpoint, why }) => `whether ${endpoint} takes it is not known: ${why}`),
    ...unasked.map(({ endpoint, why }) => `${endpoint}: ${why}`),
  ];
}

/** Objects that are accepted and do not act, or not as they say. */
function notEnforced(state: State): readonly string[] {
  return findingsOf(state)
    .filter(({ code }) => code === 'not-yet' || code === 'not-enforceable')
    .map(({ object, message }) => `${object}: ${message}`);
}
