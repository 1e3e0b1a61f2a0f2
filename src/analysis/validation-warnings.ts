// What Istio's validation warns of: an object that is accepted and hardly means what its author intended. The
// validating webhook answers with it, `analyze` reports it as IST0133. The texts are istiod's, because users and
// scripts know them.
// Source: Istio pkg/config/validation/validation.go (WrapWarning, AppendWarningf), virtualservice.go.

import { isIp } from '../core/base/ip.ts';
import { isObject, type Json } from '../core/base/json.ts';
import { findUnreachableRules } from '../core/kinds/istio/validate/unreachable-rules.ts';
import type { KindName, KindSpecs } from '../core/model/kind.ts';
import { isHttp, isTcp, protocolOf } from '../core/model/protocol.ts';
import type {
  AuthorizationPolicy,
  DestinationRule,
  HTTPRoute,
  RequestAuthentication,
  Rule,
  ServiceEntry,
  Sidecar,
  Telemetry,
  TrafficPolicy,
  VirtualService,
  WorkloadEntry,
} from '../core/schema/istio-types.gen.ts';
import { gatewayWarnings } from './gateway-warnings.ts';

export type Warn = (text: string) => void;

export interface WarnedObject<K extends KindName = KindName> {
  readonly kind: K;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: KindSpecs[K];
}

const NO_LABELS = 'workload selector specified without labels';
const RESPONSE_BYTES_MAX = 100 * 1024;

const warners: { readonly [K in KindName]?: (object: WarnedObject<K>, warn: Warn) => void } = {
  AuthorizationPolicy: ({ spec }, warn) => ofAuthorization(spec, warn),
  DestinationRule: ({ spec }, warn) => ofDestinationRule(spec, warn),
  Gateway: ({ spec }, warn) => gatewayWarnings(spec, warn),
  PeerAuthentication: ({ spec }, warn) => ofSelector(spec.selector?.matchLabels, spec.selector, warn),
  ProxyConfig: ({ spec }, warn) => ofSelector(spec.selector?.matchLabels, spec.selector, warn),
  RequestAuthentication: ({ spec }, warn) => ofRequestAuthentication(spec, warn),
  ServiceEntry: (object, warn) => ofServiceEntry(object, warn),
  Sidecar: ({ spec, namespace }, warn) => ofSidecar(spec, namespace, warn),
  Telemetry: ({ spec }, warn) => ofTelemetry(spec, warn),
  VirtualService: ({ spec }, warn) => ofVirtualService(spec, warn),
  WasmPlugin: ({ spec }, warn) => ofSelector(spec.selector?.matchLabels, spec.selector, warn),
  WorkloadEntry: ({ spec }, warn) => ofWorkloadEntry(spec, warn),
};

/**
 * In the order of the rules; empty for kinds that have none. Without those of `unreachableWarnings`, which are analyzed
 * under codes of their own.
 */
export function validationWarnings<K extends KindName>(object: WarnedObject<K>): readonly string[] {
  const found: string[] = [];
  (warners[object.kind] as ((one: WarnedObject<K>, warn: Warn) => void) | undefined)?.(object, text =>
    found.push(text),
  );
  return found;
}

/** Of a VirtualService: its rules and matches that do nothing. */
export function unreachableWarnings({ kind, spec }: WarnedObject): readonly string[] {
  const found: string[] = [];
  if (kind !== 'VirtualService') return found;
  findUnreachableRules(spec as VirtualService, {
    unused: (rule, reason) => found.push(`virtualService rule ${rule} not used (${reason})`),
    ineffective: (rule, match, earlier) =>
      found.push(
        `virtualService rule ${rule} match ${match} is not used (duplicate/overlapping match in rule ${earlier})`,
      ),
  });
  return found;
}

function ofSelector(labels: object | undefined, selector: object | undefined, warn: Warn, text = NO_LABELS): void {
  if (selector !== undefined && Object.keys(labels ?? {}).length === 0) warn(text);
}

/** A rule of a DENY policy that names HTTP alone denies every byte of a port that is none. */
function ofAuthorization({ selector, action, rules = [] }: AuthorizationPolicy, warn: Warn): void {
  ofSelector(selector?.matchLabels, selector, warn);
  if (action !== 'DENY') return;
  for (const rule of rules) {
    if (!deniesTcp(rule)) continue;
    warn(
      'configured AuthorizationPolicy will deny all traffic to TCP ports under its scope due to the use of only HTTP attributes in a DENY rule; it is recommended to explicitly specify the port',
    );
  }
}

function deniesTcp({ from = [], to = [] }: Rule): boolean {
  const sources = from.flatMap(({ source }) => source ?? []);
  const operations = to.flatMap(({ operation }) => operation ?? []);
  const http: readonly string[] = ['requestPrincipals', 'notRequestPrincipals', 'trustDomains', 'notTrustDomains'];
  const namesPeer = sources.some(source => Object.keys(source).some(name => !http.includes(name)));
  const namesPort = operations.some(({ ports, notPorts }) => ports !== undefined || notPorts !== undefined);
  if (operations.length > 0) return !namesPort;
  return sources.length > 0 && !namesPeer;
}

function ofDestinationRule({ workloadSelector, trafficPolicy, subsets = [] }: DestinationRule, warn: Warn): void {
  for (const policy of [trafficPolicy, ...subsets.map(subset => subset.trafficPolicy)]) ofPolicy(policy, warn);
  ofSelector(workloadSelector?.matchLabels, workloadSelector, warn);
}

function ofPolicy(policy: TrafficPolicy | undefined, warn: Warn): void {
  for (const { loadBalancer, outlierDetection } of [policy ?? {}, ...(policy?.portLevelSettings ?? [])]) {
    if ((outlierDetection?.consecutiveErrors ?? 0) !== 0) {
      warn(
        'outlier detection consecutive errors is deprecated, use consecutiveGatewayErrors or consecutive5xxErrors instead',
      );
    }
    if ((loadBalancer?.consistentHash?.minimumRingSize ?? 0) !== 0) {
      warn("consistent hash MinimumRingSize is deprecated, use ConsistentHashLB's RingHash configuration instead");
    }
  }
}

function ofRequestAuthentication({ selector, jwtRules = [] }: RequestAuthentication, warn: Warn): void {
  ofSelector(selector?.matchLabels, selector, warn);
  for (const { jwks } of jwtRules) {
    for (const [index, key] of keysIn(jwks).entries()) {
      if (!isObject(key) || (key.d === undefined && key.k === undefined)) continue;
      warn(`jwks key at index ${index} contains private key material; only public keys are used for verification`);
    }
  }
}

function keysIn(jwks: string | undefined): readonly Json[] {
  try {
    const parsed = JSON.parse(jwks ?? '{}') as Json;
    return isObject(parsed) && Array.isArray(parsed.keys) ? (parsed.keys as readonly Json[]) : [];
  } catch {
    return [];
  }
}

function ofServiceEntry({ spec, labels }: WarnedObject<'ServiceEntry'>, warn: Warn): void {
  const { hosts = [], addresses = [], ports = [], resolution = 'NONE', workloadSelector, endpoints = [] } = spec;
  const everything = `service entry: ${NO_LABELS}, will be applied to all services in namespace`;
  ofSelector(workloadSelector?.labels, workloadSelector, warn, everything);
  for (const host of hosts) {
    const isPartial = host.includes('*') && host.length > 1 && !host.startsWith('*.');
    if (isPartial && resolution !== 'DYNAMIC_DNS') warn(`partial wildcard "${host}" not allowed`);
  }
  for (const { protocol = '' } of ports) {
    if (addresses.length > 0 || mayAllocate(spec, labels) || (protocol !== '' && protocol !== 'TCP')) continue;
    warn('addresses are required for ports serving TCP (or unset) protocol when IP Autoallocation is not enabled');
  }
  if (resolution === 'NONE' && workloadSelector !== undefined) {
    warn('workloadSelector should not be set when resolution mode is NONE');
  }
  if (resolution === 'DNS' && addresses.length > 0 && hosts.length > 1) {
    if (ports.some(({ protocol = '' }) => isTcp(protocolOf(protocol)))) {
      warn('service entry can not have more than one host specified simultaneously with address and tcp port');
    }
  }
  for (const endpoint of endpoints) ofWorkloadEntry(endpoint, warn);
}

/** Of an entry without addresses of its own: with the default settings of istiod. */
function mayAllocate({ resolution = 'NONE' }: ServiceEntry, labels: Readonly<Record<string, string>>): boolean {
  return resolution !== 'NONE' && labels['networking.istio.io/enable-autoallocate-ip']?.toLowerCase() !== 'false';
}

function ofWorkloadEntry({ address = '', network = '' }: WorkloadEntry, warn: Warn): void {
  if (address === '' && network !== '') warn(`address is unset with network "${network}"`);
}

function ofSidecar({ workloadSelector, ingress = [], egress = [] }: Sidecar, namespace: string, warn: Warn): void {
  const everything = `sidecar: ${NO_LABELS}, will be applied to all services in namespace`;
  ofSelector(workloadSelector?.labels, workloadSelector, warn, everything);
  for (const { port, connectionPool } of ingress) {
    const { number = 0, name = '', protocol = '' } = port ?? {};
    if (port === undefined || connectionPool?.http === undefined || isHttp(protocolOf(protocol))) continue;
    const settings = `HTTP connection pool settings are configured for port ${number} ("${name}")`;
    warn(`sidecar: ${settings} but its protocol is not HTTP (${protocol}); only TCP settings will apply`);
  }
  for (const { hosts = [] } of egress) ofImports(hosts, namespace, warn);
}

function ofImports(hosts: readonly string[], namespace: string, warn: Warn): void {
  const listed = new Map<string, Set<string>>();
  for (const host of hosts) {
    const slash = host.indexOf('/');
    if (slash < 0) continue;
    const place = host.slice(0, slash) === '.' ? namespace : host.slice(0, slash);
    const name = host.slice(slash + 1);
    const others = listed.get(place) ?? new Set();
    listed.set(place, others);
    const isRepeated = name === '*' ? others.size > 0 : others.has(name) || others.has('*');
    if (isRepeated) warn(`duplicated egress host: ${host}`);
    others.add(name);
  }
  if (listed.get('*')?.has('*') && listed.size !== 1) {
    warn('`*/*` host select all resources, no other hosts can be added');
  }
}

function ofTelemetry({ selector, tracing = [], metrics = [] }: Telemetry, warn: Warn): void {
  ofSelector(selector?.matchLabels, selector, warn);
  if (tracing.length > 1) warn('multiple tracing is not currently supported');
  for (const { providers = [] } of tracing) {
    if (providers.length > 1) warn('multiple providers is not currently supported');
  }
  for (const { tagOverrides = {} } of metrics.flatMap(({ overrides = [] }) => overrides)) {
    if (Object.hasOwn(tagOverrides, '')) warn('tagOverrides.name may not be empty');
  }
}

function ofVirtualService(spec: VirtualService, warn: Warn): void {
  const { gateways = [], http = [], tls = [] } = spec;
  ofGatewayNames(gateways, warn);
  for (const route of http) ofHttpRoute(route, warn);
  for (const { match = [] } of tls) {
    for (const { sniHosts = [], gateways: named = [] } of match) {
      for (const host of sniHosts.filter(isIp)) {
        warn(`using an IP address ("${host}") goes against SNI spec and most clients do not support this`);
      }
      ofGatewayNames(named, warn);
    }
  }
}

function ofHttpRoute({ match = [], fault, mirrorPercent, directResponse }: HTTPRoute, warn: Warn): void {
  const { abort } = fault ?? {};
  if (abort !== undefined && abort.httpStatus === undefined && abort.grpcStatus === undefined && !abort.http2Error) {
    warn('abort configured, but error type not set');
  }
  if (mirrorPercent !== undefined) warn('using deprecated setting "mirrorPercent", use "mirrorPercentage" instead');
  const { string = '', bytes = '' } = directResponse?.body ?? {};
  // Base64: three bytes in four characters.
  const size = string === '' ? Math.floor((bytes.length * 3) / 4) : string.length;
  if (size > RESPONSE_BYTES_MAX) warn('large direct_responses may impact control plane performance');
  for (const { gateways = [] } of match) ofGatewayNames(gateways, warn);
}

/** Names before namespaces had a place of their own. */
function ofGatewayNames(names: readonly string[], warn: Warn): void {
  for (const name of names) {
    if (name.includes('/') || !name.includes('.')) continue;
    const [gateway = '', namespace = ''] = name.split('.');
    const better = `${namespace}/${gateway}`;
    warn(`using legacy gatewayName format "${name}"; prefer the <namespace>/<name> format: "${better}"`);
  }
}
