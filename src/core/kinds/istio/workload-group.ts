// WorkloadGroup: the template of the WorkloadEntries of virtual machines that register themselves.
// Rules: Istio pkg/config/validation (ValidateWorkloadGroup).

import type { Obj } from '../../model/object.ts';
import type { ReadinessProbe, WorkloadGroup } from '../../schema/istio-types.gen.ts';
import { account, type Reference } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkWorkloadLabels } from '../validate/labels.ts';
import { checkPort } from '../validate/ports.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly WorkloadGroup: { readonly spec: WorkloadGroup; readonly push: 'none' };
  }
}

export const workloadGroup = istioKind({
  kind: 'WorkloadGroup',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'none',
  type: 'istio.networking.v1alpha3.WorkloadGroup',
  references: workloadGroupReferences,
  rules: checkWorkloadGroup,
  // The owner of the WorkloadEntries that are made of it.
  keepMeta: ['uid'],
});

const PROBE_HEADER = /^[-A-Za-z0-9]+$/;

function checkWorkloadGroup(spec: WorkloadGroup, report: Report): void {
  // A workload that registers fills in the rest of the template, so no more fields are required.
  if (spec.template === undefined) report('spec.template', 'is missing');
  checkWorkloadLabels(spec.metadata?.labels ?? {}, 'spec.metadata.labels', report);
  checkProbe(spec.probe, 'spec.probe', report);
}

function checkProbe(probe: ReadinessProbe | undefined, path: string, report: Report): void {
  if (probe === undefined) return;
  const { httpGet, tcpSocket, exec } = probe;
  if (httpGet === undefined && tcpSocket === undefined && exec === undefined) {
    report(path, 'has no check that is supported: expected httpGet, tcpSocket or exec');
  }
  const scheme = httpGet?.scheme ?? '';
  if (!['', 'HTTP', 'HTTPS'].includes(scheme)) {
    report(`${path}.httpGet.scheme`, `${quoted(scheme)} is not a scheme of probes: expected HTTP or HTTPS`);
  }
  httpGet?.httpHeaders?.forEach(({ name = '' }, i) => {
    if (!PROBE_HEADER.test(name)) {
      report(`${path}.httpGet.httpHeaders[${i}].name`, `${quoted(name)} is not the name of a header`);
    }
  });
  if (httpGet !== undefined) checkPort(httpGet.port, `${path}.httpGet.port`, report);
  if (tcpSocket !== undefined) checkPort(tcpSocket.port, `${path}.tcpSocket.port`, report);
  if (exec !== undefined && (exec.command ?? []).length === 0) report(`${path}.exec.command`, 'is empty');
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    const value = probe[field] ?? 0;
    if (value < 0) report(`${path}.${field}`, `${value} is negative`);
  }
}

function workloadGroupReferences({ namespace, spec }: Obj<'WorkloadGroup'>): readonly Reference[] {
  return account('spec.template.serviceAccount', namespace, spec.template?.serviceAccount);
}
