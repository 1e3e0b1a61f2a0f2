// Annotations of a pod that the injector checks before it renders anything: by one table for the webhook, which refuses
// the pod, and for analysis, which names the problem. Source: Istio pkg/kube/inject/validate.go (AnnotationValidation).

import { type Either, isLeft, left } from 'fp-ts/lib/Either.js';
import { goBoolean } from '../base/go-boolean.ts';
import { isCidr } from '../base/ip.ts';
import type { Json } from '../base/json.ts';
import { showProblem } from '../base/problem.ts';
import { readYaml } from '../base/yaml.ts';
import { quoted } from '../kinds/report.ts';
import { interfaceNamesProblem } from '../kinds/validate/interfaces.ts';
import { decodeIstio } from '../schema/istio.ts';
import { proxyConfigProblems } from './mesh-config.ts';

/** Undefined: the value is fine. */
type Check = (value: string) => string | undefined;

/** Of the annotation proxy.istio.io/config: some microseconds of the event loop for each. */
export const PROXY_CONFIG_CHARS_MAX = 16_384;
const PORT_MAX = 65_535;
const UINT32_MAX = 2 ** 32 - 1;
/** A Kubernetes quantity: a number and a suffix or an exponent. */
const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;

const isPort = (text: string): boolean => /^\d+$/.test(text.trim()) && Number(text) <= PORT_MAX;

/** None at all, or ports between commas. */
const ports: Check = value => {
  const bad = value.trim() === '' ? undefined : value.split(',').find(part => !isPort(part));
  return bad === undefined ? undefined : `found port ${quoted(bad)}; expected a comma-separated list of ports`;
};
/** Without blanks: the value goes as it is into the arguments of a program. */
const cidrs: Check = value => {
  const bad = value === '' ? undefined : value.split(',').find(part => !isCidr(part));
  return bad === undefined ? undefined : `found ${quoted(bad)}; expected a comma-separated list of CIDR blocks`;
};
const orAny =
  (check: Check): Check =>
  value =>
    value === '*' ? undefined : check(value);
const uint32 = matching(text => /^\d+$/.test(text) && Number(text) <= UINT32_MAX, 'a whole number');
const quantity = matching(text => QUANTITY.test(text), 'a quantity such as 100m or 128Mi');

const CHECKS: ReadonlyMap<string, Check> = new Map([
  [
    'sidecar.istio.io/interceptionMode',
    value =>
      ['REDIRECT', 'TPROXY', 'NONE'].includes(value)
        ? undefined
        : `interceptionMode invalid, use REDIRECT,TPROXY,NONE: ${value}`,
  ],
  ['status.sidecar.istio.io/port', matching(isPort, 'one port')],
  ['readiness.status.sidecar.istio.io/initialDelaySeconds', uint32],
  ['readiness.status.sidecar.istio.io/periodSeconds', uint32],
  ['readiness.status.sidecar.istio.io/failureThreshold', uint32],
  ['traffic.sidecar.istio.io/includeOutboundIPRanges', orAny(cidrs)],
  ['traffic.sidecar.istio.io/excludeOutboundIPRanges', cidrs],
  ['traffic.sidecar.istio.io/includeInboundPorts', orAny(ports)],
  ['traffic.sidecar.istio.io/excludeInboundPorts', ports],
  ['traffic.sidecar.istio.io/excludeOutboundPorts', ports],
  ['traffic.sidecar.istio.io/excludeInterfaces', interfaceNamesProblem],
  ['traffic.sidecar.istio.io/kubevirtInterfaces', interfaceNamesProblem],
  ['istio.io/reroute-virtual-interfaces', interfaceNamesProblem],
  ['prometheus.istio.io/merge-metrics', matching(text => goBoolean(text) !== undefined, 'true or false')],
  ['proxy.istio.io/config', proxyConfig],
  ['sidecar.istio.io/proxyCPU', quantity],
  ['sidecar.istio.io/proxyMemory', quantity],
  ['sidecar.istio.io/proxyCPULimit', quantity],
  ['sidecar.istio.io/proxyMemoryLimit', quantity],
]);

/** The annotations that are checked. */
export const checkedAnnotations: readonly string[] = [...CHECKS.keys()];

/** Undefined: the injector takes it, or nothing checks it. */
export function annotationProblem(name: string, value: string): string | undefined {
  return CHECKS.get(name)?.(value);
}

function matching(isSound: (text: string) => boolean, expected: string): Check {
  return value => (isSound(value) ? undefined : `found ${quoted(value)}; expected ${expected}`);
}

/** The value of `proxy.istio.io/config`; left: why the text is none, to follow its name. */
export function readProxyConfig(text: string): Either<string, Json> {
  if (text.length > PROXY_CONFIG_CHARS_MAX) return left(`is longer than ${PROXY_CONFIG_CHARS_MAX} characters`);
  const value = readYaml(text);
  return isLeft(value) ? left(`expected a ProxyConfig: ${value.left}`) : value;
}

/** Members that the release does not know are ignored. */
function proxyConfig(text: string): string | undefined {
  const value = readProxyConfig(text);
  if (isLeft(value)) return value.left;
  const decoded = decodeIstio('istio.mesh.v1alpha1.ProxyConfig', value.right ?? {}, '', { ignoreUnknown: true });
  const problems = isLeft(decoded) ? decoded.left : proxyConfigProblems(decoded.right);
  return problems.length === 0 ? undefined : problems.map(showProblem).join('; ');
}
