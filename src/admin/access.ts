// The pages of `periplus authz`: which policies a workload has, and who may call it, now or at a position of the
// journal.
//
// A question is answered from the journal's history, not from the state that is served: a workload that is asked about
// by its service is connected to a state of its own, which must not reach the queries that proxies are served from.

import type { Json } from '../core/base/json.ts';
import type { State } from '../core/state.ts';
import { type AccessRequest, accessReport, policyReport } from '../history/access/request.ts';
import type { History } from '../history/history.ts';
import { HistoryFault } from '../history/history-fault.ts';
import { resolvePosition } from '../history/position.ts';
import { type Answer, json, type Route, text } from './http.ts';

export function accessRoutes(history: History): readonly (readonly [string, Route])[] {
  return [
    ['/debug/authz/can', query => answered(history, query, state => can(history, state, query))],
    [
      '/debug/authz/check',
      query => answered(history, query, state => policyReport(history.tracker, state, named(query, 'target'))),
    ],
  ];
}

async function answered(history: History, query: URLSearchParams, answer: (state: State) => unknown): Promise<Answer> {
  try {
    const at = query.get('at');
    const { journal } = history;
    const state = await history.at(at === null ? journal.head().seq : await resolvePosition(journal, at));
    return json(answer(state) as Json);
  } catch (error) {
    if (error instanceof HistoryFault) return text(`${error.message}\n`, error.misuse ? 400 : 404);
    throw error;
  }
}

function can(history: History, state: State, query: URLSearchParams): unknown {
  const optional: Record<string, string> = {};
  for (const name of ['method', 'path', 'host', 'jwt', 'port', 'sourceIp', 'authorizer']) {
    const value = query.get(name);
    if (value !== null) optional[name] = value;
  }
  const request: AccessRequest = {
    ...optional,
    caller: named(query, 'caller'),
    target: named(query, 'target'),
    header: query.getAll('header'),
    tcp: query.get('tcp') === 'true',
  };
  return accessReport(history.tracker, state, request);
}

function named(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null || value === '') throw new HistoryFault(`${name} is missing`, true);
  return value;
}
