// What broke first: every built-in condition of `bisect`, over all proxies of a range, and the events that they began
// with.
//
// Positions spread evenly over the range are looked at; each symptom that the first one lacks is searched back to its
// event by halving. Evaluations are shared between symptoms, so an outage with a hundred symptoms costs little more
// than one. What comes and goes between two of the positions is not seen; refusals of proxies (NACKs) are events and
// all are.

import type { JsonObject } from '../core/base/json.ts';
import type { Incident, IncidentBreak, IncidentSymptom, PositionRange, Symptom } from './answers.ts';
import { allConnectedDuring, type ConnectedProxy } from './connected-during.ts';
import { eventSummary } from './event-summary.ts';
import type { History } from './history.ts';
import { proxiesAt } from './proxies.ts';
import { refusalReason } from './refusal-reason.ts';
import { baselineOf, symptomKey, symptomsAt } from './symptoms.ts';

/** Positions looked at in the first round. */
export const INCIDENT_PROBES = 24;
/** Proxies that are asked about; the rest is counted. */
export const INCIDENT_PROXIES_MAX = 100;

export interface IncidentOptions {
  readonly onProgress?: (done: number, of: number) => void;
  /** Only the proxy of this id. */
  readonly only?: string;
}

export async function incident(
  history: History,
  range: PositionRange,
  { onProgress = () => undefined, only }: IncidentOptions = {},
): Promise<Incident> {
  const connected = await allConnectedDuring(history, range);
  const all = connected.filter(({ proxy }) => only === undefined || proxy.facets.id === only);
  const proxies = all.slice(0, INCIDENT_PROXIES_MAX);
  const looking = new Looking(history, range, proxies, onProgress);
  await looking.learnBaselines();
  const found = await looking.breaks();
  for (const [seq, nacks] of await nacksIn(history, range, new Set(proxies.map(({ proxy }) => proxy.facets.id)))) {
    found.set(seq, [...(found.get(seq) ?? []), ...nacks]);
  }
  const breaks: IncidentBreak[] = [];
  for (const seq of [...found.keys()].sort((a, b) => a - b)) breaks.push(await breakAt(history, seq, found.get(seq)!));
  return {
    ...range,
    proxies: proxies.length,
    leftOut: all.length - proxies.length,
    evaluated: looking.evaluated,
    breaks,
    before: looking.before,
  };
}

class Looking {
  readonly #history: History;
  readonly #range: PositionRange;
  readonly #proxies: readonly ConnectedProxy[];
  readonly #onProgress: (done: number, of: number) => void;
  readonly #known = new Map<number, ReadonlyMap<string, Symptom>>();
  #baselines: { readonly since: number; readonly baseline: ReturnType<typeof baselineOf> }[] = [];
  before: readonly Symptom[] = [];

  constructor(
    history: History,
    range: PositionRange,
    proxies: readonly ConnectedProxy[],
    onProgress: (done: number, of: number) => void,
  ) {
    this.#history = history;
    this.#range = range;
    this.#proxies = proxies;
    this.#onProgress = onProgress;
  }

  get evaluated(): number {
    return this.#known.size;
  }

  /** Of each proxy where the range begins or, if later, where it connects. */
  async learnBaselines(): Promise<void> {
    for (const { proxy, since } of this.#proxies) {
      const state = await this.#history.at(since);
      this.#baselines.push({ since, baseline: baselineOf(this.#history.tracker, state, proxy) });
    }
    this.#baselines.sort((a, b) => a.since - b.since);
  }

  async #at(seq: number): Promise<ReadonlyMap<string, Symptom>> {
    const known = this.#known.get(seq);
    if (known !== undefined) return known;
    const baselines = this.#baselines.filter(({ since }) => since <= seq).map(({ baseline }) => baseline);
    const found = symptomsAt(this.#history.tracker, await this.#history.at(seq), baselines);
    const keyed = new Map(found.map(symptom => [symptomKey(symptom), symptom]));
    this.#known.set(seq, keyed);
    this.#onProgress(this.#known.size, INCIDENT_PROBES * 3);
    return keyed;
  }

  /** Event → what began with it. */
  async breaks(): Promise<Map<number, IncidentSymptom[]>> {
    const { from, to } = this.#range;
    const step = Math.max(1, Math.ceil((to - from) / INCIDENT_PROBES));
    const probes = [from];
    for (let seq = from + step; seq < to; seq += step) probes.push(seq);
    probes.push(to);
    const atEnd = await this.#at(to);
    this.before = [...(await this.#at(from)).values()];
    const began = new Map<string, number>();
    for (const [i, seq] of probes.entries()) {
      if (i === 0) continue;
      for (const key of (await this.#at(seq)).keys()) {
        if (began.has(key) || (await this.#at(from)).has(key)) continue;
        began.set(key, await this.#firstWith(key, probes[i - 1]!, seq));
      }
    }
    const bySeq = new Map<number, Map<string, IncidentSymptom>>();
    for (const [key, seq] of began) {
      const symptom = (await this.#at(seq)).get(key);
      if (symptom !== undefined) this.#add(bySeq, seq, symptom, atEnd.has(key));
    }
    return new Map([...bySeq].map(([seq, symptoms]) => [seq, [...symptoms.values()]]));
  }

  /** The first event after `low` with it; it holds at `high`. */
  async #firstWith(key: string, low: number, high: number): Promise<number> {
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if ((await this.#at(middle)).has(key)) high = middle;
      else low = middle;
    }
    return high;
  }

  #add(
    bySeq: Map<number, Map<string, IncidentSymptom>>,
    seq: number,
    { kind, what, proxy }: Symptom,
    lasts: boolean,
  ): void {
    const symptoms = bySeq.get(seq) ?? new Map<string, IncidentSymptom>();
    bySeq.set(seq, symptoms);
    const known = symptoms.get(`${kind}|${what}`);
    const proxies = [...(known?.proxies ?? []), ...(proxy === '' ? [] : [proxy])];
    symptoms.set(`${kind}|${what}`, { kind, what, proxies, lasts: lasts || known?.lasts === true });
  }
}

async function nacksIn(
  history: History,
  { from, to }: PositionRange,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<number, readonly IncidentSymptom[]>> {
  const found = new Map<number, readonly IncidentSymptom[]>();
  for (const seq of await history.journal.seqsOf('ProxyNacked', { from: from + 1, to })) {
    const event = await history.event(seq);
    if (event.kind !== 'ProxyNacked') continue;
    const proxy = proxiesAt(await history.at(seq)).find(({ connection }) => connection === event.connection);
    const id = proxy?.facets.id ?? event.connection;
    if (proxy !== undefined && !ids.has(id)) continue;
    found.set(seq, [{ kind: 'nack', what: refusalReason(event.message), proxies: [id], lasts: false }]);
  }
  return found;
}

async function breakAt(history: History, seq: number, symptoms: readonly IncidentSymptom[]): Promise<IncidentBreak> {
  for await (const [event] of history.journal.records({ from: seq, to: seq, secrets: 'redacted' })) {
    if (event === undefined) break;
    const { time, source, kind, body } = event;
    return { seq, time, source, kind, event: eventSummary(JSON.parse(body) as JsonObject), symptoms };
  }
  return { seq, time: 0, source: '', kind: '', event: 'the event is not in the journal any more', symptoms };
}
