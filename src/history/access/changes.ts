// What a change of policies opens and closes: the same questions are asked before and after, made of what the
// policies of both sides name, and the answers compared. Each caller has one line, in which requests that share a
// verdict are joined.
//
// Questions are a sample made of the rules, so a rule that matters is asked about: requests, and connections without
// HTTP, to which other rules apply. Of address ranges both ends are asked about. External authorizers are not varied.

import type { Obj } from '../../core/model/object.ts';
import type { State } from '../../core/state.ts';
import type { AccessChange, AccessDifference } from '../answers.ts';
import { type AccessQuestion, askAccess, defaultPort, type Gate } from './ask.ts';
import { FRESH, type PolicySpecs, type Pools, poolsOf, TOKEN } from './pools.ts';

/** Requests for one class of proxies; more are left out, and the result counts them. */
export const QUESTIONS_MAX = 3_000;
/** The same for connections without HTTP. */
export const CONNECTIONS_MAX = 1_000;
/** Stands for the ports that nothing names. */
const OTHER_PORT = 9;

export interface AccessSide {
  readonly state: State;
  readonly gate: Gate;
}

/** `name`: the workload, as people call it. */
export function accessChanges(
  before: AccessSide,
  after: AccessSide,
  namespace: string,
  name: string,
): AccessDifference {
  const specs = [before, after].map(({ state }) => specsOf(state, namespace));
  const both: PolicySpecs = {
    authorization: specs.flatMap(({ authorization }) => authorization),
    authentication: specs.flatMap(({ authentication }) => authentication),
  };
  const { trustDomain } = after.state.mesh.effective;
  const pools = poolsOf(both, trustDomain, name);
  const asked = [requestsTo(pools, after.gate), connectionsTo(pools, after.gate)];
  const questions = asked.flatMap(one => one.questions);
  const leftOut = asked.reduce((sum, one) => sum + one.leftOut, 0);
  const flips: Flip[] = [];
  for (const question of questions) {
    const [was, is] = [askAccess(before.gate, question), askAccess(after.gate, question)];
    if (was.allowed === is.allowed) continue;
    // What an authorizer decides is neither open nor closed: less than open, more than closed.
    const rank = { no: 0, unknown: 1, yes: 2 } as const;
    const direction = rank[is.allowed] > rank[was.allowed] ? 'opens' : 'closes';
    const decider = direction === 'closes' ? is.by : (is.by ?? was.by);
    flips.push({ question, direction, policy: decider?.policy ?? '' });
  }
  return { changes: summarise(flips, questions, name), asked: questions.length, leftOut: leftOut + pools.leftOut };
}

function specsOf({ objects, mesh }: State, namespace: string): PolicySpecs {
  const namespaces = [...new Set([mesh.effective.rootNamespace, namespace])];
  return {
    authorization: namespaces
      .flatMap(one => objects.AuthorizationPolicy.range(`${one}/`) as readonly Obj<'AuthorizationPolicy'>[])
      .map(({ namespace: own, spec }) => ({ namespace: own, spec })),
    authentication: namespaces
      .flatMap(one => objects.RequestAuthentication.range(`${one}/`) as readonly Obj<'RequestAuthentication'>[])
      .map(({ spec }) => spec),
  };
}

interface Asked {
  readonly questions: readonly AccessQuestion[];
  readonly leftOut: number;
}

/** Every combination, as far as the limit goes: the first kinds vary fastest, so identities and paths are whole. */
function requestsTo(pools: Pools, gate: Gate): Asked {
  const ports = [
    ...new Set([defaultPort(gate, true), ...gate.ports.filter(port => pools.ports.includes(port)), ...pools.ports]),
  ];
  const { identities, addresses, paths, methods, hosts, headers, tokens } = pools;
  const kinds = [identities, addresses, paths, methods, tokens, ports, headers, hosts] as const;
  return combined(kinds, QUESTIONS_MAX, ([identity, { source, client }, path, method, token, port, header, host]) => {
    const bearer: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${TOKEN}` };
    const forwarded: Record<string, string> = client && source !== undefined ? { [FORWARDED]: source } : {};
    return {
      identity,
      port,
      ...(source === undefined ? {} : { source }),
      http: {
        authority: host,
        method,
        path,
        headers: { ...header, ...bearer, ...forwarded },
        ...(token === undefined ? {} : { tokens: { [TOKEN]: token } }),
      },
    };
  });
}

const FORWARDED = 'x-forwarded-for';

function connectionsTo({ identities, addresses, ports }: Pools, gate: Gate): Asked {
  const all = [...new Set([...gate.ports, ...ports, ...(gate.router ? [] : [OTHER_PORT])])];
  return combined([identities, addresses, all] as const, CONNECTIONS_MAX, ([identity, { source }, port]) => ({
    identity,
    port,
    ...(source === undefined ? {} : { source }),
    http: undefined,
  }));
}

type Values<T extends readonly (readonly unknown[])[]> = { readonly [I in keyof T]: T[I][number] };

function combined<T extends readonly (readonly unknown[])[]>(
  kinds: T,
  max: number,
  question: (values: Values<T>) => AccessQuestion,
): Asked {
  const all = kinds.reduce((product, { length }) => product * length, 1);
  const questions = Array.from({ length: Math.min(all, max) }, (_, i) => {
    let rest = i;
    const values = kinds.map(kind => {
      const value = kind[rest % kind.length];
      rest = Math.floor(rest / kind.length);
      return value;
    });
    return question(values as unknown as Values<T>);
  });
  return { questions, leftOut: all - questions.length };
}

interface Flip {
  readonly question: AccessQuestion;
  readonly direction: AccessChange['direction'];
  readonly policy: string;
}

function summarise(
  flips: readonly Flip[],
  questions: readonly AccessQuestion[],
  name: string,
): readonly AccessChange[] {
  const groups = new Map<string, Flip[]>();
  for (const flip of flips) {
    const key = `${flip.direction} ${flip.question.http === undefined} ${callerText(flip.question.identity)}`;
    groups.set(key, [...(groups.get(key) ?? []), flip]);
  }
  return [...groups.values()].map(group => {
    const [{ direction, question, policy }] = group as [Flip, ...Flip[]];
    const caller = callerText(question.identity);
    const asked = questions.filter(
      ({ identity, http }) => identity === question.identity && (http === undefined) === (question.http === undefined),
    );
    const requests = requestsOf(
      group.map(flip => flip.question),
      asked,
    );
    const may = direction === 'opens' ? 'may now reach' : 'may no longer reach';
    const by = policy === '' ? '' : ` (${policy})`;
    return { direction, caller, requests, policy, message: `${caller} ${may} ${requests.join(', ')} of ${name}${by}` };
  });
}

/** `ns/account` of the usual identities. */
export function callerText(identity: string | undefined): string {
  if (identity === undefined) return 'a caller without mTLS';
  const [, domain, namespace, account] = /^spiffe:\/\/([^/]*)\/ns\/([^/]*)\/sa\/(.*)$/.exec(identity) ?? [];
  if (namespace === undefined) return identity;
  if (namespace === FRESH && account === FRESH) return 'any other identity';
  const text = account === FRESH ? `any other account of ${namespace}` : `${namespace}/${account}`;
  return domain === FRESH ? `${text} of another trust domain` : text;
}

/** What distinguishes requests, leaving out what every value was asked of: methods, then ports, tokens and headers. */
function requestsOf(flipped: readonly AccessQuestion[], asked: readonly AccessQuestion[]): readonly string[] {
  const isHttp = flipped[0]?.http !== undefined;
  if (flipped.length === asked.length) return [isHttp ? 'everything' : WITHOUT_HTTP];
  const parts = (question: AccessQuestion): readonly string[] => [
    question.http?.path ?? WITHOUT_HTTP,
    question.http?.method ?? '',
    question.port === OTHER_PORT ? ' on other ports' : ` on port ${question.port}`,
    tokenText(question),
    headerText(question),
    ` at ${question.http?.authority ?? ''}`,
    addressText(question),
  ];
  let rows = new Set(flipped.map(question => JSON.stringify(parts(question))));
  const width = parts(asked[0]!).length;
  const values = Array.from({ length: width }, (_, i) => [...new Set(asked.map(question => parts(question)[i]!))]);
  for (let i = width - 1; i >= 0; i--) rows = withoutColumn(rows, i, values[i]!);
  return [...rows].map(row => {
    const [path, method, ...rest] = JSON.parse(row) as readonly (string | null)[];
    const all = isHttp ? 'every path' : WITHOUT_HTTP;
    const where = path === null ? all : path === `/${FRESH}` ? 'other paths' : path!;
    return `${method === null ? '' : `${method} `}${where}${rest.filter(part => part !== null).join('')}`;
  });
}

/** What stands in place of paths. */
const WITHOUT_HTTP = 'connections without HTTP';

/** Rows that differ in one column alone, and have all its values, become one with null there. */
function withoutColumn(rows: ReadonlySet<string>, column: number, values: readonly string[]): Set<string> {
  const out = new Set<string>();
  for (const row of rows) {
    const cells = JSON.parse(row) as readonly (string | null)[];
    const withValue = (value: string | null): string =>
      JSON.stringify(cells.map((cell, i) => (i === column ? value : cell)));
    out.add(values.every(value => rows.has(withValue(value))) ? withValue(null) : row);
  }
  return out;
}

function tokenText({ http }: AccessQuestion): string {
  const claims = http?.tokens?.[TOKEN]?.claims;
  return claims === undefined ? ' without a token' : ` with the token ${JSON.stringify(claims)}`;
}

function headerText({ http }: AccessQuestion): string {
  const shown = Object.entries(http?.headers ?? {}).filter(([name]) => name !== 'authorization' && name !== FORWARDED);
  return shown.length === 0 ? '' : ` with ${shown.map(([name, value]) => `${name}: ${value}`).join(', ')}`;
}

function addressText({ source, http }: AccessQuestion): string {
  if (source === undefined) return ' from other addresses';
  return http?.headers?.[FORWARDED] === undefined ? ` from ${source}` : ` for the client ${source}`;
}
