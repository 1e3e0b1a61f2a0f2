// TLS and TCP routes of a VirtualService. Source: Istio pkg/config/validation (validateTLSRoute, validateTCPRoute).

import { isIp } from '../../../base/ip.ts';
import type {
  L4MatchAttributes,
  RouteDestination,
  TCPRoute,
  TLSMatchAttributes,
  TLSRoute,
} from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkIpOrCidr } from '../../validate/addresses.ts';
import { checkWorkloadLabels } from '../../validate/labels.ts';
import { checkPort } from '../../validate/ports.ts';
import { checkDestination, checkWeights } from './destinations.ts';
import { checkGatewayNames, sniHostProblem, wildcardHostProblem } from './hosts.ts';

/** Of a long list a message names the first. */
const HOSTS_SHOWN_MAX = 10;

/** The hosts of a VirtualService, which every SNI host must be covered by. */
interface Hosts {
  readonly hosts: readonly string[];
  /** Whether SNI hosts may be generated ones: its gateways do not include `mesh`; it may have none. */
  readonly generated: boolean;
  readonly covered: (host: string) => boolean;
}

export function checkTlsRoute(route: TLSRoute, hosts: Hosts, path: string, report: Report): void {
  const matches = route.match ?? [];
  if (matches.length === 0) report(`${path}.match`, 'is empty; a TLS route needs at least one match with sniHosts');
  matches.forEach((match, i) => {
    const at = `${path}.match[${i}]`;
    const sniHosts = match.sniHosts ?? [];
    if (sniHosts.length === 0) report(`${at}.sniHosts`, 'is empty; expected at least one host');
    sniHosts.forEach((host, j) => {
      checkSniHost(host, hosts, `${at}.sniHosts[${j}]`, report);
    });
    checkMatch(match, at, report);
  });
  checkRoute(route.route ?? [], path, report);
}

export function checkTcpRoute(route: TCPRoute, path: string, report: Report): void {
  (route.match ?? []).forEach((match, i) => {
    const at = `${path}.match[${i}]`;
    checkMatch(match, at, report);
  });
  checkRoute(route.route ?? [], path, report);
}

function checkSniHost(host: string, { hosts, generated, covered }: Hosts, path: string, report: Report): void {
  // Against the specification of SNI, but taken.
  if (isIp(host)) return;
  const found = generated ? sniHostProblem(host) : wildcardHostProblem(host);
  if (found !== undefined) report(path, found);
  else if (!covered(host)) {
    const shown = hosts.slice(0, HOSTS_SHOWN_MAX).map(quoted).join(', ');
    const more = hosts.length > HOSTS_SHOWN_MAX ? ', …' : '';
    report(path, `${quoted(host)} is not covered by any of the hosts ${shown}${more}`);
  }
}

function checkMatch(match: TLSMatchAttributes | L4MatchAttributes, path: string, report: Report): void {
  (match.destinationSubnets ?? []).forEach((subnet, i) => {
    checkIpOrCidr(subnet, `${path}.destinationSubnets[${i}]`, report);
  });
  if (match.port) checkPort(match.port, `${path}.port`, report);
  checkWorkloadLabels(match.sourceLabels ?? {}, `${path}.sourceLabels`, report);
  checkGatewayNames(match.gateways ?? [], `${path}.gateways`, report);
}

function checkRoute(destinations: readonly RouteDestination[], path: string, report: Report): void {
  if (destinations.length === 0) report(`${path}.route`, 'is empty; expected at least one destination');
  destinations.forEach(({ destination }, i) => {
    checkDestination(destination, `${path}.route[${i}].destination`, report);
  });
  checkWeights(destinations, `${path}.route`, report);
}
