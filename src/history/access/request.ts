// A question of access as people write it, and its answer as plain data: what `periplus authz` and the debug pages of a
// running control plane have in common. A part that cannot be read is the asker's mistake (HistoryFault, misuse).

import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import type { Connection, Token } from '../../oracle/question.ts';
import { HistoryFault } from '../history-fault.ts';
import { holdingsOf } from '../holdings.ts';
import { type AccessAnswer, type AccessQuestion, askAccess, defaultPort, type Gate, gateOf } from './ask.ts';
import { type ListedPolicy, listPolicies } from './listed.ts';
import { TOKEN } from './pools.ts';
import { workloadNamed } from './workload.ts';

export interface AccessRequest {
  /** `namespace/account`, a SPIFFE URI, or `none`. */
  readonly caller: string;
  /** A connected proxy, or a service as `name.namespace`. */
  readonly target: string;
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  /** `name:value` each. */
  readonly header: readonly string[];
  /** `ISSUER/SUBJECT`, or claims as JSON. */
  readonly jwt?: string;
  readonly port?: string;
  /** Bytes that are not HTTP. */
  readonly tcp: boolean;
  readonly sourceIp?: string;
  readonly authorizer?: string;
}

export interface AccessReport {
  readonly target: string;
  readonly allowed: AccessAnswer['allowed'];
  readonly why: string;
  readonly by: { readonly policy: string; readonly filter: string } | null;
  readonly shadow: readonly { readonly why: string }[];
  readonly unmodelled: readonly string[];
  readonly steps: readonly JsonObject[];
  readonly question: { readonly identity: string | null; readonly port: number; readonly http: JsonObject | null };
}

/** Throws a HistoryFault. */
export function accessReport(tracker: Tracker, given: State, request: AccessRequest): AccessReport {
  const { gate, name, state } = gateNamed(tracker, given, request.target);
  const question = questionOf(request, name, gate, state.mesh.effective.trustDomain);
  const { allowed, by, why, shadow, unmodelled, branch } = askAccess(gate, question);
  const steps = branch.steps.map(step => ({ stage: step.stage, name: step.name, why: step.why }));
  const { identity = null, port, http = null } = question;
  const report = { target: name, allowed, why, by: by ?? null, shadow, unmodelled, steps };
  return JSON.parse(JSON.stringify({ ...report, question: { identity, port, http } })) as AccessReport;
}

/** Throws a HistoryFault. */
export function policyReport(tracker: Tracker, state: State, target: string): readonly ListedPolicy[] {
  return listPolicies(gateNamed(tracker, state, target).gate.config);
}

interface Named {
  readonly gate: Gate;
  readonly name: string;
  readonly state: State;
}

function gateNamed(tracker: Tracker, given: State, target: string): Named {
  const { state, proxy, name } = workloadNamed(given, target);
  const [address = ''] = proxy.facets.ips;
  const gate = gateOf(holdingsOf(tracker, state, proxy), address, proxy.facets.type !== 'sidecar');
  return { gate, name, state };
}

function questionOf(request: AccessRequest, name: string, gate: Gate, trustDomain: string): AccessQuestion {
  const { port: wanted, sourceIp, authorizer } = request;
  const port = wanted === undefined ? defaultPort(gate, !request.tcp) : Number(wanted);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw misuse(`port ${wanted}: expected 1 to 65535`);
  return {
    identity: identityOf(request.caller, trustDomain),
    port,
    http: request.tcp ? undefined : httpOf(request, name),
    ...(sourceIp === undefined ? {} : { source: sourceIp }),
    ...(authorizer === undefined ? {} : { authorizer: authorizerOf(authorizer) }),
  };
}

function httpOf({ method, path, host, header, jwt }: AccessRequest, name: string): AccessQuestion['http'] {
  const token = jwt === undefined ? undefined : tokenOf(jwt);
  const bearer: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${TOKEN}` };
  return {
    method: method ?? 'GET',
    path: path ?? '/',
    authority: host ?? name,
    headers: { ...Object.fromEntries(header.map(headerOf)), ...bearer },
    ...(token === undefined ? {} : { tokens: { [TOKEN]: token } }),
  };
}

const misuse = (text: string): HistoryFault => new HistoryFault(text, true);

function identityOf(caller: string, trustDomain: string): string | undefined {
  if (caller === 'none') return undefined;
  if (caller.startsWith('spiffe://')) return caller;
  const [namespace, account, more] = caller.split('/');
  if (!namespace || !account || more !== undefined) {
    throw misuse(`${caller}: expected namespace/account, spiffe://…, or none`);
  }
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;
}

function headerOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw misuse(`header ${text}: expected name:value`);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function tokenOf(text: string): Token {
  if (!text.startsWith('{')) {
    const slash = text.lastIndexOf('/');
    if (slash < 1) throw misuse(`jwt ${text}: expected ISSUER/SUBJECT or claims as JSON`);
    return { claims: { iss: text.slice(0, slash), sub: text.slice(slash + 1) } };
  }
  try {
    const claims: unknown = JSON.parse(text);
    if (isObject(claims)) return { claims };
  } catch {
    // The error below covers it.
  }
  throw misuse('jwt: the claims are no JSON object');
}

function authorizerOf(text: string): Connection['authorizer'] {
  if (text === 'allows' || text === 'denies' || text === 'fails') return text;
  throw misuse(`authorizer ${text}: expected allows, denies or fails`);
}
