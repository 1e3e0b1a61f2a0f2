// WorkloadGroup: the template of the WorkloadEntries of virtual machines that register themselves.
// Rules: Istio pkg/config/validation (ValidateWorkloadGroup).

import type { ReadinessProbe, WorkloadGroup } from '../schema/istio-types.gen.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio.ts';
import type { Report } from './report.ts';
import { checkEndpoint } from './validate/endpoints.ts';
import { checkLabels } from './validate/labels.ts';
import { checkPort } from './validate/ports.ts';

export const workloadGroup = istioKind({
  kind: 'WorkloadGroup',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  type: 'istio.networking.v1alpha3.WorkloadGroup',
  rules: checkWorkloadGroup,
});

function checkWorkloadGroup(spec: WorkloadGroup, report: Report): void {
  if (spec.template === undefined) report('spec.template', 'is missing');
  else checkEndpoint(spec.template, { addressOptional: true }, 'spec.template', report);
  checkLabels(spec.metadata?.labels ?? {}, 'spec.metadata.labels', report);
  checkProbe(spec.probe, 'spec.probe', report);
}

function checkProbe(probe: ReadinessProbe | undefined, path: string, report: Report): void {
  if (probe === undefined) return;
  const { httpGet, tcpSocket, grpc, exec } = probe;
  if (httpGet !== undefined) checkPort(httpGet.port, `${path}.httpGet.port`, report);
  if (tcpSocket !== undefined) checkPort(tcpSocket.port, `${path}.tcpSocket.port`, report);
  if (grpc !== undefined) checkPort(grpc.port, `${path}.grpc.port`, report);
  if (exec !== undefined && (exec.command ?? []).length === 0) report(`${path}.exec.command`, 'is empty');
  for (const field of ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'failureThreshold'] as const) {
    const value = probe[field] ?? 0;
    if (value < 0) report(`${path}.${field}`, `${value} is negative`);
  }
}
