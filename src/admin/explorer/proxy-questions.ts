// The questions about proxies: who is connected at a position, what one holds as tables and as JSON, and why.
//
// A caller who is limited to a namespace gets proxies that prove an identity of it at that position, and no others.

import { metadataText, type ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import { type ConfigDump, configDump } from '../../history/config-dump.ts';
import { HistoryFault } from '../../history/history-fault.ts';
import { type Holdings, holdingsOf } from '../../history/holdings.ts';
import { proxiesAt, proxyNamed, workloadOf } from '../../history/proxies.ts';
import { type ProxyStatusAt, proxyStatusAt } from '../../history/proxy-status.ts';
import { clusterRows, endpointRows, listenerRows, routeRows } from '../../history/rows.ts';
import { endpointCount, problemsOf, splitOf } from '../../history/traffic.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS, rulesOf, SDS } from '../../xds/session/types.ts';
import { mayShow } from '../pages/find-proxy.ts';
import type { Position, Problem, ProxyList, ProxyRow, ProxyView, RawResources } from './api.ts';
import { type Asked, oneOf, positionIn, type Question, requireAll, textOf } from './question.ts';
import type { Reader } from './reader.ts';
import { why } from './why.ts';

/** Events that are looked back over for the last response of each type. */
export const LOOK_BACK_EVENTS = 200_000;
const TYPES = { CDS, EDS, LDS, RDS, SDS, ECDS, NDS } as const;
export type TypeName = keyof typeof TYPES;
const typeNames = Object.keys(TYPES) as readonly TypeName[];

export const proxyQuestions: Readonly<Record<string, Question<Reader>>> = {
  '/proxies': proxies,
  '/proxy': proxyView,
  '/proxy/raw': raw,
  '/why': async (reader, asked) => {
    requireAll(asked);
    const { state, proxy } = await proxyAsked(reader, asked);
    return why(reader.history, state, proxy, asked);
  },
};

export async function stateAt({ history }: Reader, asked: Asked, name = 'at'): Promise<State> {
  return history.at(await positionIn(history.journal, asked, name, history.head().seq));
}

export function positionOf({ seq, time }: State): Position {
  return { seq, time };
}

/** The proxies that the caller may see. */
export function shownProxies(state: State, { viewer }: Pick<Asked, 'viewer'>): readonly ProxyRecord[] {
  return proxiesAt(state).filter(proxy => mayShow(viewer, proxy));
}

/** The state at `at` and the proxy that `proxy` names there. */
export async function proxyAsked(
  reader: Reader,
  asked: Asked,
): Promise<{ readonly state: State; readonly proxy: ProxyRecord }> {
  const state = await stateAt(reader, asked);
  return { state, proxy: proxyShown(state, textOf(asked, 'proxy'), asked) };
}

/** Names no proxy that the caller may not see. */
export function proxyShown(state: State, name: string, { viewer }: Pick<Asked, 'viewer'>): ProxyRecord {
  if (viewer === 'all') return proxyNamed(state, name);
  const shown = shownProxies(state, { viewer });
  const found = shown.find(({ connection, facets }) => connection === name || facets.id === name);
  if (found !== undefined) return found;
  throw new HistoryFault(`no proxy ${name} of namespace ${viewer.namespace} is connected at position ${state.seq}`);
}

async function proxies(reader: Reader, asked: Asked): Promise<ProxyList> {
  const state = await stateAt(reader, asked);
  const shown = shownProxies(state, asked);
  const statuses = await proxyStatusAt(reader.history, state, shown, LOOK_BACK_EVENTS);
  const rows: ProxyRow[] = [];
  for (const [i, proxy] of shown.entries()) rows.push(await rowOf(reader, proxy, statuses[i]!));
  return { at: positionOf(state), proxies: rows };
}

async function rowOf({ history }: Reader, proxy: ProxyRecord, status: ProxyStatusAt): Promise<ProxyRow> {
  const { facets, connection, metadata, protocol, connectedAt } = proxy;
  const { seq: head } = history.head();
  const known = connectedAt > history.journal.base().seq && connectedAt <= head;
  return {
    id: facets.id,
    connection,
    namespace: facets.namespace,
    type: facets.type,
    cluster: facets.clusterId,
    version: metadataText(metadata, 'ISTIO_VERSION'),
    ips: facets.ips,
    workload: workloadOf(proxy),
    protocol,
    connectedAt: known ? (await history.event(connectedAt)).time : 0,
    connectedSeq: connectedAt,
    types: status.types,
  };
}

async function proxyView(reader: Reader, asked: Asked): Promise<ProxyView> {
  const { state, proxy } = await proxyAsked(reader, asked);
  const { tracker } = reader.history;
  const [status] = await proxyStatusAt(reader.history, state, [proxy], LOOK_BACK_EVENTS);
  const holdings = holdingsOf(tracker, state, proxy);
  const dump = configDump(tracker, state, proxy, [CDS, EDS, LDS, RDS]);
  const names = (url: string): readonly string[] => [...(holdings.get(url)?.keys() ?? [])];
  return {
    at: positionOf(state),
    proxy: await rowOf(reader, proxy, status!),
    ...tablesOf(dump, holdings),
    secrets: names(SDS),
    extensions: names(ECDS),
  };
}

function tablesOf(
  dump: ConfigDump,
  holdings: Holdings,
): Pick<ProxyView, 'clusters' | 'listeners' | 'routes' | 'endpoints'> {
  const clusters = clusterRows(dump).map(row => {
    const endpoints = endpointCount(holdings, row.name);
    const problems: readonly Problem[] =
      endpoints === 0 ? [{ kind: 'no-endpoints', message: `${row.name} has no endpoints` }] : [];
    return { ...row, ...(endpoints === undefined ? {} : { endpoints }), problems };
  });
  const routes = routeRows(dump).map(({ shares, ...row }) => {
    const splits = shares.map(({ cluster, share }) => splitOf(holdings, cluster, share));
    return { ...row, splits, problems: splits.flatMap(split => problemsOf(holdings, split)) };
  });
  return { clusters, listeners: listenerRows(dump), routes, endpoints: endpointRows(dump) };
}

async function raw(reader: Reader, asked: Asked): Promise<RawResources> {
  const { state, proxy } = await proxyAsked(reader, asked);
  const given = asked.query.get('type');
  const wanted = given === null || given === '' ? Object.values(TYPES) : [TYPES[oneOf(asked, 'type', typeNames)]];
  const name = asked.query.get('name');
  const { configs } = configDump(reader.history.tracker, state, proxy, wanted);
  return {
    at: positionOf(state),
    proxy: proxy.facets.id,
    configs: configs.map(({ typeUrl, resources }) => ({
      typeUrl,
      type: rulesOf(typeUrl).short,
      resources: resources.filter(one => name === null || name === '' || one.name === name),
    })),
  };
}

export function typeUrlOf(asked: Asked): string {
  return TYPES[oneOf(asked, 'type', typeNames)];
}
