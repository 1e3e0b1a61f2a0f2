// Values of annotations that the injector reads: the problem of one, in our words.
// Source: Istio pkg/kube/inject/validate.go (AnnotationValidation), pkg/util/net (ValidateInterfaceNames).

import { isLeft } from 'fp-ts/lib/Either.js';
import { isCidr } from '../core/base/ip.ts';
import { showProblem } from '../core/base/problem.ts';
import { readYaml } from '../core/base/yaml.ts';
import { interfaceNamesProblem } from '../core/kinds/validate/interfaces.ts';
import { proxyConfigProblems } from '../core/mesh/mesh-config.ts';
import { decodeIstio } from '../core/schema/istio.ts';

type Check = (value: string) => string | undefined;

const PORT_MAX = 65_535;
const UINT32_MAX = 2 ** 32 - 1;
/** A Kubernetes quantity: a number and a suffix or an exponent. */
const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;
const BOOLEANS: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True', '0', 'f', 'F', 'false', 'FALSE', 'False'];

const ports: Check = value => {
  if (value.trim() === '') return undefined;
  const bad = value.split(',').find(part => !/^\d+$/.test(part.trim()) || Number(part) > PORT_MAX);
  return bad === undefined ? undefined : `found port ${quote(bad)}; expected a comma-separated list of ports`;
};
const cidrs: Check = value => {
  if (value === '') return undefined;
  const bad = value.split(',').find(part => !isCidr(part));
  return bad === undefined ? undefined : `found ${quote(bad)}; expected a comma-separated list of CIDR blocks`;
};
const uint32: Check = value =>
  /^\d+$/.test(value) && Number(value) <= UINT32_MAX ? undefined : `found ${quote(value)}; expected a whole number`;
const quantity: Check = value =>
  QUANTITY.test(value) ? undefined : `found ${quote(value)}; expected a quantity such as 100m or 128Mi`;
const orAny =
  (check: Check): Check =>
  value =>
    value === '*' ? undefined : check(value);

const checks: Readonly<Record<string, Check>> = {
  'sidecar.istio.io/interceptionMode': value =>
    ['REDIRECT', 'TPROXY', 'NONE'].includes(value)
      ? undefined
      : `interceptionMode invalid, use REDIRECT,TPROXY,NONE: ${value}`,
  'status.sidecar.istio.io/port': value =>
    value.includes(',') || value.trim() === '' ? 'expected one port' : ports(value),
  'readiness.status.sidecar.istio.io/initialDelaySeconds': uint32,
  'readiness.status.sidecar.istio.io/periodSeconds': uint32,
  'readiness.status.sidecar.istio.io/failureThreshold': uint32,
  'traffic.sidecar.istio.io/includeOutboundIPRanges': orAny(cidrs),
  'traffic.sidecar.istio.io/excludeOutboundIPRanges': cidrs,
  'traffic.sidecar.istio.io/includeInboundPorts': orAny(ports),
  'traffic.sidecar.istio.io/excludeInboundPorts': ports,
  'traffic.sidecar.istio.io/excludeOutboundPorts': ports,
  'traffic.sidecar.istio.io/excludeInterfaces': interfaceNamesProblem,
  'traffic.sidecar.istio.io/kubevirtInterfaces': interfaceNamesProblem,
  'istio.io/reroute-virtual-interfaces': interfaceNamesProblem,
  'prometheus.istio.io/merge-metrics': value =>
    BOOLEANS.includes(value) ? undefined : `found ${quote(value)}; expected true or false`,
  'proxy.istio.io/config': proxyConfig,
  'sidecar.istio.io/proxyCPU': quantity,
  'sidecar.istio.io/proxyMemory': quantity,
  'sidecar.istio.io/proxyCPULimit': quantity,
  'sidecar.istio.io/proxyMemoryLimit': quantity,
};

/** Undefined: the injector takes it, or nothing checks it. */
export function annotationProblem(name: string, value: string): string | undefined {
  return checks[name]?.(value);
}

function proxyConfig(text: string): string | undefined {
  const value = readYaml(text);
  if (isLeft(value)) return `expected a ProxyConfig: ${value.left}`;
  const decoded = decodeIstio('istio.mesh.v1alpha1.ProxyConfig', value.right ?? {}, '');
  const problems = isLeft(decoded) ? decoded.left : proxyConfigProblems(decoded.right);
  return problems.length === 0 ? undefined : problems.map(showProblem).join('; ');
}

function quote(text: string): string {
  return `${JSON.stringify(text)}`;
}
