// Analysis of files or of a state as plain data: every message with its object and place, and how much was looked at.
//
// istioctl's analyzers come first; what the state itself knows (refused objects, dangling references, policies that
// cannot be enforced) is added where no analyzer reports the same field. Printing is the commands' business.

import { type Analysis, type AnalysisOptions, analyze } from '../analysis/analyze.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { schemaValidationError } from '../analysis/ist-0001-0145.ts';
import type { Message, Subject, Wording } from '../analysis/message.ts';
import { analyzedObjects, type Received, textsOf } from '../analysis/objects.ts';
import * as per from '../analysis/per.ts';
import { isObject, type JsonObject } from '../core/base/json.ts';
import { showOrigin } from '../core/base/problem.ts';
import { definitionOf } from '../core/kinds/registry.ts';
import type { State } from '../core/state.ts';
import { analysisContext, installedGateway, objectsOfState, withPodsOfTemplates } from './analysis-input.ts';
import { type Finding, findingsOf } from './findings.ts';
import { type PatchReport, patchReport } from './patch-verdicts.ts';
import { withProxiesOfWorkloads } from './workload-proxies.ts';

export interface AnalysisResult extends Analysis {
  /** Objects that were looked at, of every kind. */
  readonly objects: number;
  /** On how many proxies EnvoyFilters were tried, and which entries on none; absent if nothing but analyzers ran. */
  readonly patches?: Pick<PatchReport, 'proxies' | 'unseen'>;
}

export interface AnalysisRequest extends AnalysisOptions {
  readonly analyzers: readonly Analyzer[];
  /** When certificates are judged, ms since the epoch. */
  readonly now: number;
  /** Only istioctl's messages: what the state knows is left out. */
  readonly onlyAnalyzers?: boolean;
}

/** `objects`: those of the files that `state` was folded from. */
export function analyzeFiles(state: State, objects: readonly Received[], request: AnalysisRequest): AnalysisResult {
  const all = [...withPodsOfTemplates(objects), ...installedGateway(state)];
  return { ...analyzeObjects(state, all, request, repetitions(objects)), objects: objects.length };
}

/** The objects in force at a position of a journal. */
export function analyzeState(state: State, request: AnalysisRequest): AnalysisResult {
  const objects = objectsOfState(state);
  return { ...analyzeObjects(state, objects, request, []), objects: objects.length };
}

function analyzeObjects(
  state: State,
  objects: readonly Received[],
  { analyzers, now, onlyAnalyzers = false, ...options }: AnalysisRequest,
  repeated: readonly Message[],
): Omit<AnalysisResult, 'objects'> {
  const snapshot = analyzedObjects(objects, analysisContext(state, now));
  if (onlyAnalyzers) return analyze(snapshot, analyzers, options);
  const said = analyze(snapshot, analyzers, { ...options, suppressions: [] }).messages;
  const patches = patchesOf(state, objects);
  const news = findingsOf(state, patches).filter(finding => !isAnalyzed(finding, said));
  const own = messagesOf(news, objects);
  const further = [...own, ...repeated, ...(options.further ?? [])];
  return { ...analyze(snapshot, analyzers, { ...options, further }), patches };
}

/** By the connected proxies; where there is none, by those that the workloads will have. */
export function patchesOf(state: State, objects: readonly Received[]): PatchReport {
  if (state.objects.EnvoyFilter.size === 0 || state.proxies.size > 0) return patchReport(state);
  const received = objects.filter(({ made }) => made !== 'of-installation');
  return patchReport(withProxiesOfWorkloads(state, received), 'a proxy of these workloads');
}

/** The same field is the subject of an analyzer's message. */
function isAnalyzed({ code, object, path = '' }: Finding, said: readonly Message[]): boolean {
  if (code !== 'nothing-there' && code !== 'no-workload') return false;
  return said.some(({ item, path: at = '' }) => {
    if (item === undefined || keyOf(item) !== object) return false;
    return (
      at === '' ||
      at.startsWith(path) ||
      path.startsWith(at) ||
      path.replace(/\.host$/, '') === at.replace(/\.host$/, '')
    );
  });
}

/** As findings name objects. */
function keyOf({ kind, namespace, name }: Pick<Subject, 'kind' | 'namespace' | 'name'>): string {
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

export function subjectOf({ object, source, cluster, origin }: Received): Subject {
  const metadata: JsonObject = isObject(object.metadata) ? object.metadata : {};
  const kind = String(object.kind);
  const scoped = definitionOf(object.apiVersion, object.kind)?.clusterScoped === true || kind === 'Namespace';
  return {
    kind,
    cluster,
    source,
    namespace: scoped ? '' : String(metadata.namespace ?? 'default'),
    name: String(metadata.name ?? ''),
    annotations: textsOf(metadata.annotations),
    raw: object,
    ...(origin === undefined ? {} : { origin }),
  };
}

/** Findings of the state as messages about the objects. */
export function messagesOf(findings: readonly Finding[], objects: readonly Received[]): readonly Message[] {
  const subjects = new Map(objects.map(received => [keyOf(subjectOf(received)), subjectOf(received)]));
  return findings.map(finding => messageOf(finding, subjects));
}

function messageOf(finding: Finding, subjects: ReadonlyMap<string, Subject>): Message {
  const { object, source, origin, path } = finding;
  const wording = wordingOf(finding);
  const where = origin === undefined ? {} : { origin };
  if (object === '') return { ...wording, ...where };
  const cluster = source.slice(source.indexOf('/') + 1);
  const named = namedBy(object, cluster);
  const known = subjects.get(keyOf(named));
  const item: Subject = {
    ...named,
    cluster,
    source,
    annotations: known?.annotations ?? {},
    raw: known?.raw ?? {},
    ...where,
  };
  return { ...wording, item, ...(path === undefined ? {} : { path }) };
}

/** `Kind/name`, `Kind/namespace/name`; objects of clusters have the cluster in front. */
function namedBy(object: string, cluster: string): Pick<Subject, 'kind' | 'namespace' | 'name'> {
  const [kind = '', ...rest] = object.split('/');
  const parts = rest.length > 1 && rest[0] === cluster ? rest.slice(1) : rest;
  return { kind, namespace: parts.slice(0, -1).join('/'), name: parts.at(-1) ?? '' };
}

function wordingOf({ code, object, message }: Finding): Wording {
  switch (code) {
    case 'refused':
      return object === '' ? per.malformedInput(message) : schemaValidationError(message);
    case 'foreign':
      return per.foreignKind(message);
    case 'not-yet':
      return per.withoutEffectYet(message);
    case 'nothing-there':
    case 'no-workload':
      return per.danglingReference(message);
    case 'not-enforceable':
      return per.policyNotEnforceable(message);
    case 'weak-policy':
      return per.weakPolicy(message);
    case 'no-effect':
      return per.settingWithoutEffect(message);
    case 'patch-weak':
      return per.patchWithoutEffect(message);
    case 'patch-idle':
      return per.patchMatchesNothing(message);
    case 'patch-left-out':
      return per.patchLeftOut(message);
    case 'patch-refused':
      return per.patchedResourceRefused(message);
    case 'guarded':
      return per.hostGuarded(message);
    case 'not-attached':
      return per.routeNotAttached(message);
  }
}

/** Objects that several files hold. Documents without a kind or a name are reported as malformed, not here. */
function repetitions(objects: readonly Received[]): readonly Message[] {
  const first = new Map<string, Subject>();
  const found: Message[] = [];
  for (const received of objects) {
    const item = subjectOf(received);
    if (typeof received.object.kind !== 'string' || item.name === '') continue;
    const group = String(received.object.apiVersion).split('/').slice(0, -1).join('/');
    const key = `${group}|${keyOf(item)}`;
    const known = first.get(key);
    if (known === undefined) first.set(key, item);
    else if (known.origin?.file !== item.origin?.file)
      found.push({ ...per.repeatedObject(showOrigin(known.origin)), item });
  }
  return found;
}
