// DestinationRule: policy for the traffic to a host. Rules: Istio pkg/config/validation (ValidateDestinationRule).

import type { RawObject } from '../../event.ts';
import { secretNameIn } from '../../model/credential-name.ts';
import type { Obj } from '../../model/object.ts';
import type { ClientTLSSettings, DestinationRule, TrafficPolicy } from '../../schema/istio-types.gen.ts';
import { namespaceOfRaw } from '../meta.ts';
import { each, host, type Reference, secret, workloads } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkWorkloadLabels } from '../validate/labels.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { checkSubsetName } from './validate/destinations.ts';
import { checkExportTo } from './validate/export-to.ts';
import { checkWildcardHost } from './validate/hosts.ts';
import { checkSelector } from './validate/selectors.ts';
import { checkTrafficPolicy } from './validate/traffic-policy.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly DestinationRule: {
      readonly spec: DestinationRule;
      readonly indexes: 'rulesByCredential';
      readonly push: 'config';
    };
  }
}

export const destinationRule = istioKind({
  kind: 'DestinationRule',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'config',
  type: 'istio.networking.v1alpha3.DestinationRule',
  rules: checkDestinationRule,
  references: destinationRuleReferences,
  indexes: {
    /** Name of the Secret that a `credentialName` means, without namespace. */
    rulesByCredential: ({ spec }) => credentialsIn(spec),
  },
});

function checkDestinationRule(spec: DestinationRule, report: Report, raw: RawObject): void {
  checkWildcardHost(spec.host, 'spec.host', report);
  const namespace = namespaceOfRaw(raw);
  checkTrafficPolicy(spec.trafficPolicy, namespace, 'spec.trafficPolicy', report);
  const names = new Set<string>();
  (spec.subsets ?? []).forEach((subset, i) => {
    const path = `spec.subsets[${i}]`;
    const { name = '' } = subset;
    if (name === '') report(`${path}.name`, 'is missing');
    else checkSubsetName(name, `${path}.name`, report);
    if (name !== '' && names.has(name)) report(`${path}.name`, `${quoted(name)} is the name of an earlier subset too`);
    names.add(name);
    checkWorkloadLabels(subset.labels ?? {}, `${path}.labels`, report);
    checkTrafficPolicy(subset.trafficPolicy, namespace, `${path}.trafficPolicy`, report);
  });
  checkSelector(spec.workloadSelector?.matchLabels, 'spec.workloadSelector.matchLabels', report);
  const ownNamespaceOnly = spec.workloadSelector !== undefined;
  checkExportTo(spec.exportTo, { namespace, ownNamespaceOnly }, report);
}

function destinationRuleReferences({ namespace, spec }: Obj<'DestinationRule'>): readonly Reference[] {
  return [
    ...host('spec.host', spec),
    ...policySecrets('spec.trafficPolicy', namespace, spec.trafficPolicy),
    ...each('spec.subsets', spec.subsets, (path, subset) =>
      policySecrets(`${path}.trafficPolicy`, namespace, subset.trafficPolicy),
    ),
    ...workloads('spec.workloadSelector', spec.workloadSelector?.matchLabels, 'namespace'),
  ];
}

function credentialsIn({ trafficPolicy, subsets = [] }: DestinationRule): readonly string[] {
  const policies = [trafficPolicy, ...subsets.map(subset => subset.trafficPolicy)];
  const settings = policies.flatMap(policy => [
    policy?.tls,
    ...(policy?.portLevelSettings ?? []).map(({ tls }) => tls),
  ]);
  const names = settings.map(tls => secretNameIn(tls?.credentialName ?? ''));
  return [...new Set(names.filter(name => name !== undefined))];
}

function policySecrets(path: string, namespace: string, policy: TrafficPolicy | undefined): readonly Reference[] {
  const of = (at: string, tls: ClientTLSSettings | undefined): readonly Reference[] =>
    secret(`${at}.tls.credentialName`, namespace, tls?.credentialName);
  return [
    ...of(path, policy?.tls),
    ...each(`${path}.portLevelSettings`, policy?.portLevelSettings, (at, { tls }) => of(at, tls)),
  ];
}
