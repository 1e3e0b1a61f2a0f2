// Analysis for statuses: the messages of istioctl's analyzers about the objects that this control plane's API server
// stores, in the newest version received, a refused one too. Messages of our own have no page at istio.io and codes
// that the definition of a status does not know, so they are left out.
//
// It runs beside serving: decoding, which is most of the work, is remembered by object and done in slices, and the
// loop turns after each analyzer. Invariant: the result depends on the state and the time alone.
// Source: Istio pkg/config/analysis/incluster/controller.go, pkg/config/analysis/diag/message.go.

import { analyze } from '../analysis/analyze.ts';
import { schemaValidationError } from '../analysis/ist-0001-0145.ts';
import { documentationOf, type Message } from '../analysis/message.ts';
import { type Item, itemOf, type Received, snapshotOf } from '../analysis/objects.ts';
import { analyzers } from '../analysis/registry.ts';
import { append } from '../core/base/append.ts';
import { showProblem } from '../core/base/problem.ts';
import type { AnalysisReportData, ReportedMessage } from '../core/kinds/periplus/analysis-report.ts';
import type { KindName } from '../core/model/kind.ts';
import { generationOf, type ObjectRecord, objectName } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import { distributedKinds } from '../core/wishes/distribution.ts';
import { subjectOf } from './analysis.ts';
import { analysisContext } from './analysis-input.ts';

/** Kinds that analyzers read and a state has. */
const inputKinds: readonly KindName[] = [
  ...distributedKinds,
  ...(['ConfigMap', 'GRPCRoute', 'HTTPRoute', 'KubernetesGateway', 'MutatingWebhookConfiguration'] as const),
  ...(['Namespace', 'Node', 'Pod', 'Secret', 'Service', 'ValidatingWebhookConfiguration'] as const),
];
/** Objects that are decoded between two turns of the loop. */
const DECODED_AT_ONCE = 200;

/** Where a status can be written. */
interface Target {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
}

export class StatusAnalysis {
  /** Undefined: no analyzer reads the object. */
  #items = new Map<Received['object'], Item | undefined>();

  inputs(state: State): readonly unknown[] {
    const refused = [...istioRecords(state)].flatMap(({ refused }) => (refused === undefined ? [] : [refused]));
    return [...inputKinds.map(kind => state.objects[kind]), state.mesh, state.networks, ...refused];
  }

  /** `rest`: lets the event loop turn. */
  async run(
    state: State,
    now: number,
    rest: () => Promise<unknown>,
  ): Promise<readonly (AnalysisReportData & { readonly namespace: string })[]> {
    const items = await this.#decoded(state, rest);
    const objects = snapshotOf(items, analysisContext(state, now));
    const found: Message[] = [...refusalsIn(state)];
    for (const analyzer of analyzers) {
      if (analyzer.onRequest === true) continue;
      append(found, analyze(objects, [analyzer]).messages);
      await rest();
    }
    return reportsOf(state, analyze(objects, [], { further: found }).messages);
  }

  async #decoded(state: State, rest: () => Promise<unknown>): Promise<readonly Item[]> {
    const known = this.#items;
    const kept = new Map<Received['object'], Item | undefined>();
    let decoded = 0;
    for (const kind of inputKinds) {
      for (const record of state.records.range(`${kind}|`)) {
        const received = receivedIn(state, record);
        if (received === undefined) continue;
        const isKnown = known.has(received.object);
        kept.set(received.object, isKnown ? known.get(received.object) : itemOf(received, 'default'));
        if (!isKnown && ++decoded % DECODED_AT_ONCE === 0) await rest();
      }
    }
    this.#items = kept;
    return [...kept.values()].filter(item => item !== undefined);
  }
}

/** The newest version; undefined: another source has the object, or it is of another control plane. */
function receivedIn(state: State, { kind, key, source, accepted, raw, refused }: ObjectRecord): Received | undefined {
  if (accepted !== undefined && state.objects[kind].get(key) !== accepted) return undefined;
  const object = refused?.raw ?? raw;
  return object === undefined ? undefined : { object, source, cluster: source.slice(source.indexOf('/') + 1) };
}

function* istioRecords(state: State): Iterable<ObjectRecord> {
  for (const kind of distributedKinds) yield* state.records.range(`${kind}|`);
}

function* refusalsIn(state: State): Iterable<Message> {
  for (const record of istioRecords(state)) {
    const received = receivedIn(state, record);
    if (received === undefined || record.refused === undefined) continue;
    const item = subjectOf(received);
    for (const problem of record.refused.problems) yield { ...schemaValidationError(showProblem(problem)), item };
  }
}

function reportsOf(
  state: State,
  found: readonly Message[],
): readonly (AnalysisReportData & { readonly namespace: string })[] {
  const bySubject = new Map<string, ReportedMessage[]>();
  for (const { item, code, level } of found) {
    const documentationUrl = documentationOf(code, '');
    if (item === undefined || documentationUrl === undefined) continue;
    const known = bySubject.get(objectName(item)) ?? [];
    bySubject.set(objectName(item), known);
    known.push({ code, level: level.toUpperCase(), documentationUrl });
  }
  return [...targetsIn(state)].map(target => ({ ...target, messages: bySubject.get(objectName(target)) ?? [] }));
}

function* targetsIn(state: State): Iterable<Target> {
  const own = `kube/${state.settings.clusterId}`;
  for (const record of istioRecords(state)) {
    const received = record.source === own ? receivedIn(state, record) : undefined;
    const generation = generationOf(received?.object);
    if (received === undefined || generation === undefined) continue;
    const { namespace, name } = subjectOf(received);
    yield { kind: record.kind, namespace, name, generation };
  }
}
