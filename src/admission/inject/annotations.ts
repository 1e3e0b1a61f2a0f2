// Annotations of a pod that are checked before anything is rendered: one bad value refuses the pod.
// Source: Istio pkg/kube/inject/validate.go, AnnotationValidation.

import { isLeft } from 'fp-ts/lib/Either.js';
import { goBoolean } from '../../core/base/go-boolean.ts';
import { isCidr } from '../../core/base/ip.ts';
import { readYaml } from '../../core/base/yaml.ts';
import { interfaceNamesProblem } from '../../core/kinds/validate/interfaces.ts';
import { proxyConfigProblems } from '../../core/mesh/mesh-config.ts';
import { decodeIstio } from '../../core/schema/istio.ts';
import type { Texts } from './pod.ts';

/** Undefined: the value is fine. */
type Check = (value: string) => string | undefined;

const UINT32_MAX = 0xffff_ffff;
const QUANTITY = /^[+-]?(?:[0-9]+|[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$/;

const uint32: Check = value => {
  const sound = /^[0-9]{1,10}$/.test(value) && Number(value) <= UINT32_MAX;
  return sound ? undefined : 'expected a number from 0 to 4294967295';
};
const port: Check = value => {
  const sound = /^[0-9]{1,5}$/.test(value.trim()) && Number(value) <= 65_535;
  return sound ? undefined : `port ${value} is none`;
};
/** None at all, or ports between commas. */
const ports: Check = value => (value.trim() === '' ? undefined : value.split(',').map(port).find(isFault));
const ranges =
  (parameter: string): Check =>
  value => {
    // Without blanks: the value goes as it is into the arguments of a program.
    const bad = value === '' ? undefined : value.split(',').find(part => !isCidr(part));
    return bad === undefined ? undefined : `${parameter} invalid: ${bad} is no CIDR range`;
  };
const orAll =
  (check: Check): Check =>
  value =>
    value === '*' ? undefined : check(value);
const quantity: Check = value => (QUANTITY.test(value) ? undefined : 'expected a quantity');

const CHECKS: ReadonlyMap<string, Check> = new Map([
  [
    'sidecar.istio.io/interceptionMode',
    value => (['REDIRECT', 'TPROXY', 'NONE'].includes(value) ? undefined : 'expected REDIRECT, TPROXY or NONE'),
  ],
  ['status.sidecar.istio.io/port', port],
  ['readiness.status.sidecar.istio.io/initialDelaySeconds', uint32],
  ['readiness.status.sidecar.istio.io/periodSeconds', uint32],
  ['readiness.status.sidecar.istio.io/failureThreshold', uint32],
  ['traffic.sidecar.istio.io/includeOutboundIPRanges', orAll(ranges('includeIPRanges'))],
  ['traffic.sidecar.istio.io/excludeOutboundIPRanges', ranges('excludeIPRanges')],
  ['traffic.sidecar.istio.io/includeInboundPorts', orAll(ports)],
  ['traffic.sidecar.istio.io/excludeInboundPorts', ports],
  ['traffic.sidecar.istio.io/excludeOutboundPorts', ports],
  ['traffic.sidecar.istio.io/excludeInterfaces', interfaceNamesProblem],
  ['traffic.sidecar.istio.io/kubevirtInterfaces', interfaceNamesProblem],
  ['istio.io/reroute-virtual-interfaces', interfaceNamesProblem],
  [
    'prometheus.istio.io/merge-metrics',
    value => (goBoolean(value) === undefined ? 'expected true or false' : undefined),
  ],
  ['proxy.istio.io/config', proxyConfig],
  ['sidecar.istio.io/proxyCPU', quantity],
  ['sidecar.istio.io/proxyCPULimit', quantity],
  ['sidecar.istio.io/proxyMemory', quantity],
  ['sidecar.istio.io/proxyMemoryLimit', quantity],
]);

/** Undefined: all are fine. */
export function annotationFault(annotations: Texts): string | undefined {
  for (const [name, check] of CHECKS) {
    const value = annotations[name];
    if (value === undefined) continue;
    const why = check(value);
    if (why !== undefined) return `invalid value '${value}' for annotation '${name}': ${why}`;
  }
  return undefined;
}

function isFault(why: string | undefined): boolean {
  return why !== undefined;
}

function proxyConfig(value: string): string | undefined {
  const yaml = readYaml(value);
  if (isLeft(yaml)) return yaml.left;
  const decoded = decodeIstio('istio.mesh.v1alpha1.ProxyConfig', yaml.right ?? {}, '', { ignoreUnknown: true });
  const problems = isLeft(decoded) ? decoded.left : proxyConfigProblems(decoded.right);
  return problems.length === 0 ? undefined : problems.map(({ path, message }) => `${path} ${message}`).join('; ');
}
