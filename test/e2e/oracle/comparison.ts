// Questions put to the oracle and to a real Envoy, and where the answers differ. Where the prediction is one of
// several, what happened must be among them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tracker } from '../../../src/core/query/tracker.ts';
import type { State } from '../../../src/core/state.ts';
import { heldBy } from '../../../src/offline/held.ts';
import { explain } from '../../../src/oracle/explain.ts';
import { oracleOf } from '../../../src/oracle/oracle.ts';
import type { Outcome, Prediction } from '../../../src/oracle/prediction.ts';
import type { Connection, HttpRequest, ProxyConfig } from '../../../src/oracle/question.ts';
import type { Place } from './places.ts';

/** Requests for each question with several possible answers. */
const REPEATED = 8;

export interface Asked {
  readonly destination: { readonly address: string; readonly port: number };
  /** The client speaks TLS; '' without a server name. */
  readonly sni?: string;
  readonly request?: HttpRequest;
}

export interface Compared {
  readonly tried: number;
  readonly kinds: ReadonlySet<string>;
  readonly different: readonly string[];
}

/** What the oracle is told of the configuration. */
export type Telling = (config: ProxyConfig) => ProxyConfig;

export interface Comparison {
  readonly place: Place;
  /** For the file of questions. */
  readonly folder: string;
  readonly state: State;
  readonly questions: readonly Asked[];
  readonly arrives: Connection['arrives'];
  readonly telling: Telling;
}

export async function compare({ place, folder, state, questions, arrives, telling }: Comparison): Promise<Compared> {
  const proxy = [...state.proxies.values()][0]!;
  const oracle = oracleOf(telling(heldBy(new Tracker(), state, proxy)));
  const tried = questions
    .map(question => {
      const { destination, sni, request } = question;
      const tls = sni === undefined ? {} : { tls: sni === '' ? {} : { sni } };
      const prediction = oracle.predict({ arrives, destination, http: request, ...tls });
      return { question, prediction, times: prediction.branches.length > 1 ? REPEATED : 1 };
    })
    .filter(({ prediction }) => canBeTried(prediction));
  const file = join(folder, 'questions.json');
  await writeFile(file, JSON.stringify(tried.map(({ question, times }) => ({ ...question, times }))));
  const answers = JSON.parse(await place.ask(file)) as readonly (readonly string[])[];
  const kinds = new Set<string>();
  const different: string[] = [];
  tried.forEach(({ question, prediction }, i) => {
    const expected = new Set(prediction.branches.flatMap(({ outcome }) => texts(outcome, question)));
    const seen = answers[i] ?? [];
    for (const one of seen) kinds.add(one.split(' ')[0]!);
    const odd = seen.filter(one => !expected.has(one));
    if (odd.length > 0) different.push(`${JSON.stringify(question)}\nEnvoy: ${odd.join('; ')}\n${explain(prediction)}`);
  });
  return { tried: tried.length, kinds, different };
}

/**
 * As client.mjs says it. Who proxies bytes leaves a request as it was; whether it can be seen inside of TLS is up to
 * who ends that.
 */
function texts(outcome: Outcome, { request: asked, sni }: Asked): readonly string[] {
  if (outcome.kind === 'answered') {
    return [`answered ${outcome.status}${outcome.location === undefined ? '' : ` ${outcome.location}`}`];
  }
  if (outcome.kind !== 'forwarded') return [outcome.kind];
  const { address, port } = outcome.endpoint;
  const request = outcome.request ?? asked;
  const bytes = `forwarded ${address}:${port}`;
  if (request === undefined) return [bytes];
  const seen = `${bytes} ${request.authority} ${request.path}`;
  return sni === undefined || outcome.protocol === 'http' ? [seen] : [seen, bytes];
}

/** Names need a DNS server, long delays need patience; neither is here. */
function canBeTried({ branches }: Prediction): boolean {
  return branches.every(({ steps, outcome }) => {
    if (steps.some(({ stage, why }) => stage === 'http filter' && why === 'delays')) return false;
    if (outcome.kind === 'unknown' || outcome.kind === 'stuck') return false;
    if (outcome.kind !== 'forwarded') return true;
    return /^[\d.]+$/.test(outcome.endpoint.address);
  });
}
