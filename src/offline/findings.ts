// Findings for the authors of objects, from a state alone: refused objects, accepted ones without effect, dangling
// references. Shown by the debug page, by `analyze`, and beside the output of `generate`.

import { selects } from '../core/base/labels.ts';
import { type Origin, showProblem } from '../core/base/problem.ts';
import { standInText } from '../core/fold/apply-object.ts';
import type { KindDefinition } from '../core/kinds/definition.ts';
import { definitions } from '../core/kinds/registry.ts';
import type { KindName } from '../core/model/kind.ts';
import { compareText, configKey, type ObjectRecord } from '../core/model/object.ts';
import { Tracker } from '../core/query/tracker.ts';
import { labelsOf } from '../core/registry/proxy-workload.ts';
import { policyFindings } from '../core/select/policy/policy-findings.ts';
import { productFindings } from '../core/select/product-findings.ts';
import { guardedVirtualServices } from '../core/select/scope/host-guard.ts';
import { type DanglingReference, danglingReferences } from '../core/select/scope/references.ts';
import { limitFindings } from '../core/select/scope/virtual-services.ts';
import { telemetryFindings } from '../core/select/telemetry/telemetry-findings.ts';
import type { State } from '../core/state.ts';
import { translationSources } from '../core/translate/sources.ts';
import { routeFindings } from '../core/wishes/gateway-api/findings.ts';
import { type PatchReport, patchReport } from './patch-verdicts.ts';

const refusal = { severity: 'error', code: 'refused' } as const;

export interface Finding {
  /**
   * error: the object is not in force, or refuses what it cannot enforce. warning: it is in force or not ours, but may
   * not mean what its author intended.
   */
  readonly severity: 'error' | 'warning';
  /**
   * foreign: a kind of another project; not-yet: a kind without effect so far; nothing-there: a dangling reference;
   * no-workload: a selector without workloads; not-enforceable: a policy that refuses because it cannot be enforced;
   * guarded: a VirtualService that takes over a host of another namespace, and so is not used inside the mesh;
   * not-attached: a route that a parent does not take, or with a backend that cannot be used;
   * weak-policy: a policy that protects less than it seems to; no-effect: a setting of Telemetry or of a Wasm module
   * that does nothing, or an object that another one hides; patch-*: an entry of an EnvoyFilter that has no effect or
   * not the one it seems to have (weak), matches nothing that a proxy holds (idle), cannot be applied where
   * it matches (left-out), or makes what Envoy refuses (refused).
   */
  readonly code:
    | 'refused'
    | 'foreign'
    | 'not-yet'
    | 'nothing-there'
    | 'no-workload'
    | 'not-enforceable'
    | 'guarded'
    | 'not-attached'
    | 'weak-policy'
    | 'no-effect'
    | 'patch-weak'
    | 'patch-idle'
    | 'patch-left-out'
    | 'patch-refused';
  /** `Kind/namespace/name`, `MeshConfig`, `MeshNetworks`; empty for a document that is no object. */
  readonly object: string;
  readonly source: string;
  readonly origin?: Origin;
  /** Path inside the object, e.g. `spec.http[0].timeout`; absent if the finding is about the whole object. */
  readonly path?: string;
  /** `path: problem`, or without a path the problem alone. */
  readonly message: string;
}

/** Errors first, then by object. `patches`: what is known of EnvoyFilters; default: by the connected proxies. */
export function findingsOf(state: State, patches: PatchReport = patchReport(state)): readonly Finding[] {
  const all = [
    ...ofMesh(state),
    ...ofMalformed(state),
    ...ofRecords(state),
    ...ofReferences(state),
    ...ofPolicies(state),
    ...ofTelemetry(state),
    ...ofGuard(state),
    ...ofLimits(state),
    ...ofProducts(state),
    ...ofPatches(state, patches),
    ...ofRoutes(state),
  ];
  return all
    .map((finding, i) => ({ finding, i }))
    .sort(
      (a, b) =>
        compareText(a.finding.severity, b.finding.severity) ||
        compareText(a.finding.object, b.finding.object) ||
        a.i - b.i,
    )
    .map(({ finding }) => finding);
}

function* ofMesh({ mesh, networks }: State): IterableIterator<Finding> {
  for (const [object, applied] of [
    ['MeshConfig', mesh],
    ['MeshNetworks', networks],
  ] as const) {
    const words = [['file', applied] as const, ...Object.entries(applied.others ?? {})];
    for (const [source, { refused }] of words) {
      for (const problem of refused?.problems ?? []) {
        yield { ...refusal, object, source, ...at(refused?.origin, problem.path), message: showProblem(problem) };
      }
    }
  }
}

function* ofMalformed(state: State): IterableIterator<Finding> {
  for (const [key, { origin, reasons, ignored = [] }] of state.malformed.entries()) {
    const source = key.slice(0, key.indexOf('|'));
    for (const reason of reasons) yield { ...refusal, object: '', source, ...placeAndWords(origin, reason) };
    for (const reason of ignored) {
      yield { severity: 'warning', code: 'foreign', object: '', source, ...placeAndWords(origin, reason) };
    }
  }
}

/** Splits `line:column: message`, the form that adapters report. */
function placeAndWords(file: Origin, reason: string): { readonly origin: Origin; readonly message: string } {
  const [, line, column, message = reason] = /^(\d+):(\d+): (.*)$/s.exec(reason) ?? [];
  return { origin: line === undefined ? file : { ...file, line: Number(line), column: Number(column) }, message };
}

function* ofRecords(state: State): IterableIterator<Finding> {
  for (const { kind, key, source, origin, accepted, refused, standIn } of state.records.values()) {
    const object = shown(kind, key);
    for (const problem of refused?.problems ?? []) {
      yield { ...refusal, object, source, ...at(refused?.origin, problem.path), message: showProblem(problem) };
    }
    if (standIn !== undefined)
      yield { ...refusal, object, source, ...from(refused?.origin), message: standInText(standIn) };
    const { notYet, objectKind = kind }: KindDefinition = definitions[kind];
    if (notYet === undefined || accepted === undefined || state.objects[kind].get(key) !== accepted) continue;
    const message = `nothing comes of ${objectKind} yet: ${notYet}`;
    yield { severity: 'warning', code: 'not-yet', object, source, ...from(origin), message };
  }
}

function* ofReferences(state: State): IterableIterator<Finding> {
  for (const { kind, key, path, missing, workload } of new Tracker().get(state, undefined, danglingReferences, '')) {
    if (workload !== undefined && isProxy(state, workload)) continue;
    const code = workload === undefined ? 'nothing-there' : 'no-workload';
    yield inObject(state, { severity: 'warning', code }, { kind, key, path, message: `there is no ${missing}` });
  }
}

function* ofPolicies(state: State): IterableIterator<Finding> {
  for (const told of new Tracker().get(state, undefined, policyFindings, '')) {
    yield inObject(
      state,
      told.effect === 'refuses'
        ? { severity: 'error', code: 'not-enforceable' }
        : { severity: 'warning', code: 'weak-policy' },
      told,
    );
  }
}

function* ofTelemetry(state: State): IterableIterator<Finding> {
  for (const told of new Tracker().get(state, undefined, telemetryFindings, '')) {
    yield inObject(state, { severity: 'warning', code: 'no-effect' }, told);
  }
}

function* ofGuard(state: State): IterableIterator<Finding> {
  for (const { host, ...of } of new Tracker().get(state, undefined, guardedVirtualServices, '')) {
    const message = `${host} is not of its namespace, so it routes nothing inside the mesh (PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS, ISTIO-SECURITY-2026-002)`;
    yield inObject(state, { severity: 'error', code: 'guarded' }, { ...of, message });
  }
}

/** Of a translated VirtualService the objects behind it are named. */
function* ofLimits(state: State): IterableIterator<Finding> {
  const tracker = new Tracker();
  for (const { obj, path, message } of tracker.get(state, undefined, limitFindings, '')) {
    const key = configKey(obj.namespace, obj.name);
    const behind = tracker.get(state, undefined, translationSources, '').get(`VirtualService/${key}`);
    for (const object of behind ?? [`VirtualService/${key}`]) {
      const [kind = '', ...rest] = object.split('/');
      const record = inForce(state, kind as ObjectRecord['kind'], rest.join('/'));
      const where = behind === undefined ? path : '';
      const words = where === '' ? message : `${where}: ${message}`;
      yield { ...refusal, object, source: record?.source ?? '', ...at(record?.origin, where), message: words };
    }
  }
}

function* ofProducts(state: State): IterableIterator<Finding> {
  for (const told of new Tracker().get(state, undefined, productFindings, '')) yield inObject(state, refusal, told);
}

function* ofPatches(state: State, { verdicts }: PatchReport): IterableIterator<Finding> {
  for (const { code, ...told } of verdicts)
    yield inObject(state, { severity: 'warning', code }, { ...told, kind: 'EnvoyFilter' });
}

function* ofRoutes(state: State): IterableIterator<Finding> {
  for (const told of new Tracker().get(state, undefined, routeFindings, '')) {
    yield inObject(state, { severity: 'warning', code: 'not-attached' }, told);
  }
}

/** True if a connected proxy has these labels: its workload need not be an object. */
function isProxy({ proxies }: State, { labels, namespace }: NonNullable<DanglingReference['workload']>): boolean {
  for (const { facets, metadata } of proxies.values()) {
    if ((namespace ?? facets.namespace) === facets.namespace && selects(labels, labelsOf(metadata.LABELS))) return true;
  }
  return false;
}

/** What was found of a part of an object in force. */
interface Told {
  readonly kind: KindName;
  readonly key: string;
  readonly path: string;
  readonly message: string;
}

function inObject(state: State, how: Pick<Finding, 'severity' | 'code'>, { kind, key, path, message }: Told): Finding {
  const record = inForce(state, kind, key);
  return {
    ...how,
    object: shown(kind, key),
    source: record?.source ?? '',
    ...at(record?.origin, path),
    message: path === '' ? message : `${path}: ${message}`,
  };
}

function inForce(state: State, kind: ObjectRecord['kind'], key: string): ObjectRecord | undefined {
  const obj = state.objects[kind].get(key);
  return state.records.range(`${kind}|${key}|`).find(({ accepted }) => accepted === obj);
}

function shown(kind: ObjectRecord['kind'], key: string): string {
  return `${definitions[kind].objectKind ?? kind}/${key.startsWith('/') ? key.slice(1) : key}`;
}

function at(origin: Origin | undefined, path: string): { readonly origin?: Origin; readonly path?: string } {
  return { ...from(origin), ...(path === '' ? {} : { path }) };
}

function from(origin: Origin | undefined): { readonly origin?: Origin } {
  return origin === undefined ? {} : { origin };
}
