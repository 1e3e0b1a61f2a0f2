// Telemetry: metrics, access logs and traces. Rules: Istio pkg/config/validation (ValidateTelemetry).

import { keysOf } from '../../base/keys.ts';
import type { Obj } from '../../model/object.ts';
import type { Metrics, ProviderRef, Telemetry, TelemetryTracing } from '../../schema/istio-types.gen.ts';
import { each, type Reference } from '../references.ts';
import type { Report } from '../report.ts';
import { istioKind } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { celProblem } from './validate/cel.ts';
import { checkPolicyTargets } from './validate/policy-targets.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Telemetry: { readonly spec: Telemetry; readonly push: 'config' };
  }
}

export const telemetry = istioKind({
  kind: 'Telemetry',
  group: 'telemetry.istio.io',
  versions: ['v1', 'v1alpha1'],
  push: 'config',
  type: 'istio.telemetry.v1alpha1.Telemetry',
  rules: checkTelemetry,
  references: telemetryReferences,
});

const PERCENTAGE_MAX = 100;

function checkTelemetry(spec: Telemetry, report: Report): void {
  checkPolicyTargets(spec, report);
  spec.metrics?.forEach((metrics, i) => {
    checkMetrics(metrics, `spec.metrics[${i}]`, report);
  });
  spec.tracing?.forEach((tracing, i) => {
    checkTracing(tracing, `spec.tracing[${i}]`, report);
  });
  spec.accessLogging?.forEach(({ providers, filter }, i) => {
    checkProviders(providers, `spec.accessLogging[${i}]`, report);
    const found = filter === undefined ? undefined : celProblem(filter.expression ?? '');
    if (found !== undefined) report(`spec.accessLogging[${i}].filter.expression`, found);
  });
}

function checkMetrics({ providers, overrides = [] }: Metrics, path: string, report: Report): void {
  checkProviders(providers, path, report);
  overrides.forEach(({ match, tagOverrides = {} }, i) => {
    const at = `${path}.overrides[${i}]`;
    if (match?.customMetric === '') report(`${at}.match.customMetric`, 'is empty');
    for (const tag of keysOf(tagOverrides)) {
      const { operation = 'UPSERT', value = '' } = tagOverrides[tag]!;
      if ((value === '') === (operation === 'REMOVE')) continue;
      const wrong = operation === 'UPSERT' ? 'operation UPSERT needs a value' : 'operation REMOVE has no value';
      report(`${at}.tagOverrides[${tag}]`, wrong);
    }
  });
}

function checkTracing(
  { providers, randomSamplingPercentage = 0, customTags = {} }: TelemetryTracing,
  path: string,
  report: Report,
): void {
  checkProviders(providers, path, report);
  if (!(randomSamplingPercentage >= 0 && randomSamplingPercentage <= PERCENTAGE_MAX)) {
    report(`${path}.randomSamplingPercentage`, `${randomSamplingPercentage} is not a percentage: expected 0 to 100`);
  }
  for (const name of keysOf(customTags)) {
    const { literal, header, environment } = customTags[name]!;
    const isSound = literal?.value || header?.name || environment?.name;
    if (isSound && name !== '') continue;
    const at = `${path}.customTags[${name}]`;
    if (name === '') report(`${path}.customTags`, 'has an empty name');
    if (literal !== undefined && !literal.value) report(`${at}.literal.value`, 'is missing');
    if (header !== undefined && !header.name) report(`${at}.header.name`, 'is missing');
    if (environment !== undefined && !environment.name) report(`${at}.environment.name`, 'is missing');
  }
}

function checkProviders(providers: readonly ProviderRef[] | undefined, path: string, report: Report): void {
  providers?.forEach(({ name }, i) => {
    if (!name) report(`${path}.providers[${i}].name`, 'is missing');
  });
}

function telemetryReferences(obj: Obj<'Telemetry'>): readonly Reference[] {
  const providers = (path: string, { providers }: { readonly providers?: readonly ProviderRef[] }) =>
    each(`${path}.providers`, providers, (at, { name }) => (name ? [{ path: at, provider: name }] : []));
  const { tracing, metrics, accessLogging } = obj.spec;
  return [
    ...policyReferences(obj),
    ...each('spec.tracing', tracing, providers),
    ...each('spec.metrics', metrics, providers),
    ...each('spec.accessLogging', accessLogging, providers),
  ];
}
