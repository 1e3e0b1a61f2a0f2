// VirtualService: how requests to hosts are routed. Rules: Istio pkg/config/validation (ValidateVirtualService).
//
// Without hosts it is a delegate: a list of HTTP routes that another VirtualService takes in.

import { isIp } from '../../base/ip.ts';
import { keysOf } from '../../base/keys.ts';
import type { RawObject } from '../../event.ts';
import { resolveGatewayName } from '../../model/hosts.ts';
import type { Obj } from '../../model/object.ts';
import type { Destination, HTTPRoute, VirtualService } from '../../schema/istio-types.gen.ts';
import { namespaceOfRaw } from '../meta.ts';
import { each, host, type Reference } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { checkExportTo } from './validate/export-to.ts';
import { isClaim } from './validate/headers.ts';
import { coverOf, earlierOverlaps } from './validate/host-sets.ts';
import { checkGatewayNames, sniHostProblem, wildcardHostProblem } from './validate/hosts.ts';
import { checkHttpRoute, checkProducts } from './validate/http-route.ts';
import { checkTcpRoute, checkTlsRoute } from './validate/l4-route.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly VirtualService: {
      readonly spec: VirtualService;
      readonly indexes: 'virtualServicesByDelegate';
      readonly push: 'own';
    };
  }
}

export const virtualService = istioKind({
  kind: 'VirtualService',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'own',
  type: 'istio.networking.v1alpha3.VirtualService',
  rules: checkVirtualService,
  references: virtualServiceReferences,
  indexes: {
    /** `namespace/name` of the delegates that its rules name. */
    virtualServicesByDelegate: ({ namespace, spec: { http = [] } }) => [
      ...new Set(
        http.flatMap(({ delegate }) => (delegate?.name ? [`${delegate.namespace || namespace}/${delegate.name}`] : [])),
      ),
    ],
  },
});

function checkVirtualService(spec: VirtualService, report: Report, raw: RawObject): void {
  const { hosts = [], gateways = [], http = [], tls = [], tcp = [] } = spec;
  const delegate = hosts.length === 0;
  if (delegate) checkDelegate(spec, report);
  checkGatewayNames(gateways, 'spec.gateways', report);
  checkHosts(spec, report);
  if (http.length + tls.length + tcp.length === 0) report('spec', 'has no routes: expected http, tls or tcp');
  const onGateway = isOnGateways(spec);
  http.forEach((route, i) => {
    if (!onGateway) checkNoClaims(route, `spec.http[${i}]`, report);
    checkHttpRoute(route, delegate, `spec.http[${i}]`, report);
  });
  checkProducts(http, hosts.length, 'spec.http', report);
  const covered = coverOf(hosts);
  tls.forEach((route, i) => {
    checkTlsRoute(route, { hosts, generated: !gateways.includes('mesh'), covered }, `spec.tls[${i}]`, report);
  });
  tcp.forEach((route, i) => {
    checkTcpRoute(route, `spec.tcp[${i}]`, report);
  });
  checkExportTo(spec.exportTo, { namespace: namespaceOfRaw(raw) }, report);
}

/** Tokens are read by gateways before they route, by sidecars after. */
function checkNoClaims({ match = [] }: HTTPRoute, path: string, report: Report): void {
  match.forEach(({ headers = {}, withoutHeaders = {} }, i) => {
    for (const name of [...keysOf(headers), ...keysOf(withoutHeaders)].filter(isClaim)) {
      report(`${path}.match[${i}]`, `${quoted(name)}: routing by claims is possible on gateways only`);
    }
  });
}

function checkDelegate({ gateways = [], tls = [], tcp = [] }: VirtualService, report: Report): void {
  const why = 'a VirtualService without hosts is a delegate, which has none';
  if (gateways.length > 0) report('spec.gateways', why);
  if (tls.length > 0) report('spec.tls', why);
  if (tcp.length > 0) report('spec.tcp', why);
}

/** Whether it is for gateways only, not for the mesh. */
function isOnGateways({ gateways = [] }: VirtualService): boolean {
  return gateways.length > 0 && !gateways.includes('mesh');
}

function checkHosts(spec: VirtualService, report: Report): void {
  const { hosts = [], tls = [] } = spec;
  const onGateways = isOnGateways(spec);
  const hasSni = tls.some(({ match = [] }) => match.some(({ sniHosts = [] }) => sniHosts.length > 0));
  const problem = onGateways && hasSni ? sniHostProblem : wildcardHostProblem;
  let sound = true;
  hosts.forEach((host, i) => {
    const found = isIp(host) ? undefined : problem(host);
    const everything = host === '*' && !onGateways;
    if (found !== undefined) report(`spec.hosts[${i}]`, found);
    if (everything) report(`spec.hosts[${i}]`, '"*" is possible on a gateway only, and this one applies to the mesh');
    sound &&= found === undefined && !everything;
  });
  if (!sound) return;
  earlierOverlaps(hosts).forEach((earlier, i) => {
    if (earlier === undefined) return;
    report(`spec.hosts[${i}]`, `${quoted(hosts[i]!)} overlaps the earlier ${quoted(hosts[earlier]!)}`);
  });
}

/** Gateways, destinations, mirrors and delegates. */
function virtualServiceReferences({ namespace, spec }: Obj<'VirtualService'>): readonly Reference[] {
  const to = (path: string, { destination }: { readonly destination?: Destination }): readonly Reference[] =>
    host(`${path}.destination`, destination);
  return [
    ...each('spec.gateways', spec.gateways, (path, gateway) => {
      const [owner = '', name] = resolveGatewayName(gateway, namespace).split('/');
      return name === undefined ? [] : [{ path, kind: 'Gateway', namespace: owner, name }];
    }),
    ...each('spec.http', spec.http, (path, { route, mirror, mirrors, delegate }) => [
      ...each(`${path}.route`, route, to),
      ...host(`${path}.mirror`, mirror),
      ...each(`${path}.mirrors`, mirrors, to),
      ...delegateOf(`${path}.delegate`, namespace, delegate),
    ]),
    ...each('spec.tls', spec.tls, (path, { route }) => each(`${path}.route`, route, to)),
    ...each('spec.tcp', spec.tcp, (path, { route }) => each(`${path}.route`, route, to)),
  ];
}

function delegateOf(
  path: string,
  namespace: string,
  delegate: { readonly name?: string; readonly namespace?: string } | undefined,
): readonly Reference[] {
  if (!delegate?.name) return [];
  return [{ path, kind: 'VirtualService', namespace: delegate.namespace || namespace, name: delegate.name }];
}
