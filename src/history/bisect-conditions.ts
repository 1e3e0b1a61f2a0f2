// The conditions that `bisect` has built in, by name, with the sentence that says what is looked for. Each is a
// question to what a proxy holds, so the command and the explorer look for the same.

import type { ProxyRecord } from '../core/model/proxy.ts';
import {
  type BisectCondition,
  type BisectRange,
  clusterMissing,
  conditionOfProxy,
  endpointsLost,
  nacked,
  resourceChanged,
  routeLost,
} from './bisect.ts';
import type { History } from './history.ts';
import { HistoryFault } from './history-fault.ts';
import { holdingsOf } from './holdings.ts';
import { nearestText } from './nearest.ts';
import { virtualHostSubject } from './subject.ts';

export interface ConditionName {
  readonly name: 'route-lost' | 'cluster-missing' | 'endpoints-lost' | 'resource-changed' | 'nack';
  /** The host, a part of the cluster's name or nothing, the cluster, `type/NAME`, nothing. */
  readonly value: string;
}

export interface NamedCondition {
  readonly holds: BisectCondition;
  /** A sentence without its full stop. */
  readonly what: string;
  /** The names nearest to one that the proxy has nothing of; empty: it has. */
  readonly nearest?: () => Promise<string>;
}

/** `called`: the proxy as people call it. Rejects with a HistoryFault (misuse) if the condition needs one. */
export async function conditionNamed(
  history: History,
  range: BisectRange,
  { name, value }: ConditionName,
  called: string | undefined,
  proxy: ProxyRecord | undefined,
): Promise<NamedCondition> {
  if (name === 'nack') return { holds: await nacked(history, called ?? '', range), what: 'a proxy refused something' };
  if (proxy === undefined) throw new HistoryFault('say of which proxy: --proxy', true);
  if (value === '' && name !== 'cluster-missing') throw new HistoryFault(`${name} needs a name`, true);
  const nearest = (): Promise<string> => nearestOf(history, range, proxy, value);
  switch (name) {
    case 'resource-changed': {
      const holds = await resourceChanged(history, proxy, value, range.from);
      const resource = value.slice(value.indexOf('/') + 1);
      const near = (): Promise<string> => nearestOf(history, range, proxy, resource);
      return { holds, what: `${value} changed`, nearest: near };
    }
    case 'route-lost':
      return {
        holds: conditionOfProxy(history, proxy, routeLost(history, value)),
        what: `${called} has no route for ${value}`,
        nearest: async () =>
          nearestText(value, virtualHostSubject(value).names(history.tracker, await history.at(range.to), proxy)),
      };
    case 'endpoints-lost':
      return {
        holds: conditionOfProxy(history, proxy, endpointsLost(history, value)),
        what: `${value} has no endpoints for ${called}`,
        nearest,
      };
    case 'cluster-missing': {
      const which = value === '' ? '' : ` with ${value} in its name`;
      return {
        holds: conditionOfProxy(history, proxy, clusterMissing(history, value)),
        what: `${called} routes to a cluster${which} that it does not have`,
        nearest: value === '' ? async () => '' : nearest,
      };
    }
  }
}

/** Names of the proxy's resources at both ends, if none of them is the one that was asked for. */
async function nearestOf(
  history: History,
  { from, to }: BisectRange,
  proxy: ProxyRecord,
  name: string,
): Promise<string> {
  const names = new Set<string>();
  for (const seq of [from, to]) {
    for (const held of holdingsOf(history.tracker, await history.at(seq), proxy).values()) {
      for (const one of held.keys()) names.add(one);
    }
  }
  if (names.has(name)) return '';
  return `; the proxy has nothing called ${name}${nearestText(name, names)}`;
}
