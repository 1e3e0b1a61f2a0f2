// Analyses the objects of the own cluster's API server, as objects of kind AnalysisReport: the source
// `analysis/<cluster>`. From them follow the messages in statuses (core/wishes/analysis-messages.ts).
//
// One analysis reads everything, so it runs beside the fold: a second after a change at the earliest, and not more
// often than PILOT_ANALYSIS_INTERVAL. Invariants: an object without mistakes has no report, unless it had one before
// (then the report has no messages, and the status is cleared, after a restart too); a report goes with its object.
// Source: Istio pkg/config/analysis/incluster/controller.go (Run).

import type { Fact } from '../../core/event.ts';
import { ABOUT_API, nameAbout } from '../../core/kinds/periplus/about-object.ts';
import { type AnalysisReportData, reportObject } from '../../core/kinds/periplus/analysis-report.ts';
import { featureOf } from '../../core/mesh/features.ts';
import type { Settings } from '../../core/mesh/settings.ts';
import type { Obj } from '../../core/model/object.ts';
import type { State } from '../../core/state.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { Submissions } from '../kit/submissions.ts';

/** Changes that come together are analysed together. */
export const SETTLE_MS = 1_000;
/** Facts of one batch. */
const REPORTS_AT_ONCE_MAX = 500;

export interface AnalysisOfState {
  /** What an analysis reads: it is repeated when one of these is another object. */
  inputs(state: State): readonly unknown[];
  /** Of every object that a status may be written to, also those without messages. */
  run(state: State): Promise<readonly AnalysedObject[]>;
}

export interface AnalysedObject extends AnalysisReportData {
  readonly namespace: string;
}

export interface AnalysisSourceOptions {
  readonly settings: Settings;
  readonly analysis: AnalysisOfState;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

export class AnalysisSource implements Adapter {
  readonly source: string;
  readonly #options: AnalysisSourceOptions;
  readonly #isOn: boolean;
  readonly #submissions: Submissions;
  #state: State | undefined;
  /** What may have changed since the last look, and what has since the last analysis. */
  #seen: readonly unknown[] = [];
  #inputs: readonly unknown[] = [];
  #analysedAt: number | undefined;
  #timer: { cancel(): void } | undefined;
  #isRunning = false;
  #isStopped = false;

  constructor(options: AnalysisSourceOptions) {
    this.#options = options;
    this.source = `analysis/${options.settings.clusterId}`;
    this.#isOn = featureOf(options.settings, 'PILOT_ENABLE_ANALYSIS');
    this.#submissions = new Submissions('what analyzers find', options.log);
  }

  onState(state: State): void {
    this.#state = state;
    if (this.#isOn && this.#submissions.isListed) this.#plan();
  }

  /** Reports of an earlier process serve until there are new ones. */
  async start(sink: Sink): Promise<void> {
    await this.#submissions.open(sink, async () => {
      if (!this.#isOn) await sink.relistKinds(['AnalysisReport'], []);
    });
    if (this.#isOn) this.#plan();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#submissions.close();
  }

  /** Nothing that is served waits for it. */
  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: [], unreadable: [] };
  }

  #plan(): void {
    if (this.#timer !== undefined || this.#isRunning || this.#isStopped) return;
    if (this.#state === undefined || isSame(partsOf(this.#state), this.#seen)) return;
    const { now, after, settings } = this.#options;
    const interval = featureOf(settings, 'PILOT_ANALYSIS_INTERVAL');
    const next = this.#analysedAt === undefined ? 0 : this.#analysedAt + interval - now();
    this.#timer = after(Math.max(SETTLE_MS, next), () => {
      this.#timer = undefined;
      this.#isRunning = true;
      void this.#analyse()
        .catch((error: unknown) => this.#options.log('warn', `${this.source}: ${String(error)}`))
        .then(() => {
          this.#isRunning = false;
          this.#plan();
        });
    });
  }

  async #analyse(): Promise<void> {
    const state = this.#state;
    if (state === undefined) return;
    const { analysis, now } = this.#options;
    this.#analysedAt = now();
    this.#seen = partsOf(state);
    const inputs = analysis.inputs(state);
    if (isSame(inputs, this.#inputs)) return;
    const analysed = await analysis.run(state);
    if (this.#isStopped) return;
    this.#inputs = inputs;
    const facts = factsOf(analysed, reportsIn(this.#state ?? state));
    for (let at = 0; at < facts.length; at += REPORTS_AT_ONCE_MAX) {
      this.#submissions.submit(facts.slice(at, at + REPORTS_AT_ONCE_MAX));
    }
  }
}

/** A status without messages that never had one is left alone. */
function factsOf(analysed: readonly AnalysedObject[], reports: Iterable<Obj<'AnalysisReport'>>): readonly Fact[] {
  const gone = new Map([...reports].map(report => [`${report.namespace}/${report.name}`, report]));
  const facts: Fact[] = [];
  for (const { namespace, ...spec } of analysed) {
    const isKnown = gone.delete(`${namespace}/${nameAbout(spec.kind, spec.name)}`);
    if (spec.messages.length > 0) facts.push({ kind: 'Update', object: reportObject(namespace, spec) });
    // The generation does not matter, and would be news with each change of the object.
    else if (isKnown) facts.push({ kind: 'Update', object: reportObject(namespace, { ...spec, generation: 0 }) });
  }
  for (const { namespace, name } of gone.values()) {
    facts.push({ kind: 'Delete', ref: { apiVersion: ABOUT_API, kind: 'AnalysisReport', namespace, name } });
  }
  return facts;
}

function reportsIn(state: State): Iterable<Obj<'AnalysisReport'>> {
  return state.objects.AnalysisReport.values() as Iterable<Obj<'AnalysisReport'>>;
}

function partsOf({ records, mesh, networks }: State): readonly unknown[] {
  return [records, mesh, networks];
}

function isSame(inputs: readonly unknown[], before: readonly unknown[]): boolean {
  return inputs.length === before.length && inputs.every((input, i) => input === before[i]);
}
