// Istio's annotations: on which kinds of objects they belong, which are deprecated, which are alpha.
//
// Invariant: one line a group of annotations with the same answers. Source: istio.io/api 1.30.3,
// annotation/annotations.yaml.

export interface KnownAnnotation {
  /** Kinds, or `Any`. */
  readonly on: readonly string[];
  readonly alpha?: true;
  readonly deprecated?: true;
}

/** Set by Istio itself. */
export const SET_BY_ISTIO: ReadonlySet<string> = new Set([
  'sidecar.istio.io/status',
  'gateway.istio.io/controller-version',
  'istio.io/rev',
]);

/** In Istio's namespace, or the one of Kubernetes that Istio documents. */
export function isIstioAnnotation(name: string): boolean {
  return name === 'kubernetes.io/ingress.class' || (name.split('/')[0] ?? '').endsWith('istio.io');
}

interface Group extends KnownAnnotation {
  readonly names: readonly string[];
}

const groups: readonly Group[] = [
  {
    on: ['Service'],
    alpha: true,
    deprecated: true,
    names: ['alpha.istio.io/canonical-serviceaccounts', 'alpha.istio.io/kubernetes-serviceaccounts'],
  },
  {
    on: ['Pod'],
    alpha: true,
    names: [
      'ambient.istio.io/bypass-inbound-capture',
      'ambient.istio.io/dns-capture',
      'inject.istio.io/templates',
      'istio.io/reroute-virtual-interfaces',
      'istio.io/rev',
      'prometheus.istio.io/merge-metrics',
      'proxy.istio.io/overrides',
      'readiness.status.sidecar.istio.io/applicationPorts',
      'readiness.status.sidecar.istio.io/failureThreshold',
      'readiness.status.sidecar.istio.io/initialDelaySeconds',
      'readiness.status.sidecar.istio.io/periodSeconds',
      'sidecar.istio.io/agentLogLevel',
      'sidecar.istio.io/bootstrapOverride',
      'sidecar.istio.io/componentLogLevel',
      'sidecar.istio.io/interceptionMode',
      'sidecar.istio.io/logLevel',
      'sidecar.istio.io/nativeSidecar',
      'sidecar.istio.io/proxyCPU',
      'sidecar.istio.io/proxyCPULimit',
      'sidecar.istio.io/proxyImage',
      'sidecar.istio.io/proxyImageType',
      'sidecar.istio.io/proxyMemory',
      'sidecar.istio.io/proxyMemoryLimit',
      'sidecar.istio.io/rewriteAppHTTPProbers',
      'sidecar.istio.io/statsEvictionInterval',
      'sidecar.istio.io/statsFlushInterval',
      'sidecar.istio.io/statsHistogramBins',
      'sidecar.istio.io/statsHistogramBuckets',
      'sidecar.istio.io/status',
      'sidecar.istio.io/userVolume',
      'sidecar.istio.io/userVolumeMount',
      'status.sidecar.istio.io/port',
      'traffic.sidecar.istio.io/excludeInboundPorts',
      'traffic.sidecar.istio.io/excludeInterfaces',
      'traffic.sidecar.istio.io/excludeOutboundIPRanges',
      'traffic.sidecar.istio.io/excludeOutboundPorts',
      'traffic.sidecar.istio.io/includeInboundPorts',
      'traffic.sidecar.istio.io/includeOutboundIPRanges',
      'traffic.sidecar.istio.io/includeOutboundPorts',
    ],
  },
  {
    on: ['Pod'],
    names: ['ambient.istio.io/redirection', 'proxy.istio.io/config'],
  },
  {
    on: ['GatewayClass', 'Gateway'],
    alpha: true,
    names: ['ambient.istio.io/waypoint-inbound-binding'],
  },
  {
    on: ['Any'],
    alpha: true,
    names: ['galley.istio.io/analyze-suppress', 'gateway.istio.io/controller-version'],
  },
  {
    on: ['Gateway'],
    alpha: true,
    names: ['gateway.istio.io/name-override', 'gateway.istio.io/service-account', 'networking.istio.io/service-type'],
  },
  {
    on: ['WorkloadEntry'],
    alpha: true,
    names: [
      'istio.io/autoRegistrationGroup',
      'istio.io/connectedAt',
      'istio.io/disconnectedAt',
      'istio.io/workloadController',
    ],
  },
  {
    on: ['AuthorizationPolicy'],
    alpha: true,
    names: ['istio.io/dry-run'],
  },
  {
    on: ['Ingress'],
    names: ['kubernetes.io/ingress.class'],
  },
  {
    on: ['Service'],
    alpha: true,
    names: ['networking.istio.io/exportTo'],
  },
  {
    on: ['Namespace', 'Service', 'ServiceEntry'],
    alpha: true,
    names: ['networking.istio.io/traffic-distribution'],
  },
  {
    on: ['Pod'],
    alpha: true,
    deprecated: true,
    names: [
      'sidecar.istio.io/discoveryAddress',
      'sidecar.istio.io/extraStatTags',
      'sidecar.istio.io/statsCompression',
      'sidecar.istio.io/statsInclusionPrefixes',
      'sidecar.istio.io/statsInclusionRegexps',
      'sidecar.istio.io/statsInclusionSuffixes',
      'traffic.sidecar.istio.io/kubevirtInterfaces',
    ],
  },
  {
    on: ['Pod'],
    deprecated: true,
    names: ['sidecar.istio.io/inject'],
  },
  {
    on: ['Namespace'],
    alpha: true,
    names: ['topology.istio.io/controlPlaneClusters'],
  },
  {
    on: ['Service'],
    names: ['traffic.istio.io/nodeSelector'],
  },
];

export const istioAnnotations: Readonly<Record<string, KnownAnnotation | undefined>> = Object.fromEntries(
  groups.flatMap(({ names, ...known }) => names.map(name => [name, known])),
);
