// Debug pages of a process that is one of several replicas: those about proxies show the proxies of all. Each replica
// answers for its own, once it has folded what the asked one had; one that does not answer is named, not left out.

import type { Json, JsonObject } from '../core/base/json.ts';
import { isObject } from '../core/base/json.ts';
import { type Answer, json, type Route, text } from './http.ts';

export interface ReplicaView {
  /** What this replica and the others say of themselves, this one first. */
  rows(): readonly object[];
  /** Asks every other replica. */
  ask(question: string): Promise<readonly { readonly id: string; readonly text: string | undefined }[]>;
  /** The position up to which this replica has folded. */
  position(): number;
  /** Whether it has folded up to there, in a bounded time. */
  reached(position: number): Promise<boolean>;
  /** What is wrong, in words; empty: nothing. */
  troubles(): readonly string[];
}

interface PageRequest {
  readonly path: string;
  readonly query: string;
  readonly position: number;
}

/** Pages that list proxies. */
const PAGES: readonly string[] = ['/debug/syncz', '/debug/connections', '/debug/livez', '/debug/config_distribution'];
/** Pages that replicas ask each other for. */
const ASKED: readonly string[] = [...PAGES, '/debug/distributionz'];
/** Asks this replica alone. */
const OWN = 'own';

/** The routes with those about proxies replaced, and `/debug/replicasz`. */
export function replicaRoutes(routes: ReadonlyMap<string, Route>, view: ReplicaView): ReadonlyMap<string, Route> {
  const all = new Map(routes);
  for (const path of PAGES) {
    const own = routes.get(path);
    if (own !== undefined) all.set(path, (query, viewer) => ofAll(path, own, query, viewer, view));
  }
  const ready = routes.get('/ready');
  if (ready !== undefined) {
    all.set('/ready', async (query, viewer) => {
      const answer = await ready(query, viewer);
      const troubles = view.troubles().map(trouble => `${trouble}\n`);
      return { ...answer, body: `${bodyOf(answer)}${troubles.join('')}` };
    });
  }
  all.set('/debug/replicasz', () => json(view.rows() as unknown as Json));
  const list = [...all.keys()].filter(path => path !== '/debug' && path !== '/debug/list').sort();
  all.set('/debug/list', () => json(list));
  all.set('/debug', () => text(`${list.join('\n')}\n`));
  return all;
}

/** The answer to a question of another replica, about the own proxies. */
export async function answerReplica(
  asked: string,
  routes: ReadonlyMap<string, Route>,
  view: Pick<ReplicaView, 'reached'>,
): Promise<string> {
  const { path, query, position } = JSON.parse(asked) as PageRequest;
  const route = ASKED.includes(path) ? routes.get(path) : undefined;
  if (route === undefined || !(await view.reached(position))) return '';
  const answer = await route(new URLSearchParams(query), 'all');
  return answer.status === 200 ? bodyOf(answer) : '';
}

/** What each of the others answers; undefined: it does not, or is behind. */
export async function askReplicas(
  path: string,
  query: URLSearchParams,
  view: Pick<ReplicaView, 'ask' | 'position'>,
): Promise<readonly (Json | undefined)[]> {
  const question: PageRequest = { path, query: query.toString(), position: view.position() };
  return (await view.ask(JSON.stringify(question))).map(({ text: body }) => parse(body));
}

async function ofAll(
  path: string,
  own: Route,
  query: URLSearchParams,
  viewer: Parameters<Route>[1],
  view: ReplicaView,
): Promise<Answer> {
  // The past is in the own journal, which knows the own proxies.
  if (query.has(OWN) || query.has('at')) return own(query, viewer);
  const question: PageRequest = { path, query: query.toString(), position: view.position() };
  const [mine, answers] = await Promise.all([own(query, viewer), view.ask(JSON.stringify(question))]);
  if (mine.status !== 200) return mine;
  return json(merged(JSON.parse(bodyOf(mine)) as Json, answers));
}

function merged(mine: Json, answers: readonly { readonly id: string; readonly text: string | undefined }[]): Json {
  const parsed = answers.map(({ id, text: body }) => ({ id, value: parse(body) }));
  if (Array.isArray(mine)) return [...mine, ...parsed.flatMap(({ value }) => (Array.isArray(value) ? value : []))];
  if (!isObject(mine) || !Array.isArray(mine.proxies)) return mine;
  const proxies = parsed.flatMap(({ id, value }) =>
    isObject(value) && Array.isArray(value.proxies) ? value.proxies : [silent(id)],
  );
  return { ...mine, proxies: [...mine.proxies, ...proxies] };
}

/** In the place of the proxies of a silent replica: whether they have an object is not known. */
function silent(id: string): JsonObject {
  const behind = [{ type: '-', why: 'the replica does not answer, or is behind' }];
  return { proxy: `replica ${id}`, connection: '', live: false, behind, acked: {} };
}

function parse(body: string | undefined): Json | undefined {
  if (body === undefined || body === '') return undefined;
  try {
    return JSON.parse(body) as Json;
  } catch {
    return undefined;
  }
}

function bodyOf({ body }: Answer): string {
  return typeof body === 'string' ? body : Buffer.concat(body).toString('utf8');
}
