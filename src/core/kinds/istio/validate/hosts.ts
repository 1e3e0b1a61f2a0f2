// Host names: full ones, ones with a wildcard in the first label, and `namespace/host`. Source: Istio
// pkg/config/validation/agent (ValidateFQDN, ValidateWildcardDomain), pkg/config/labels; RFC 1123. Letters of either
// case are allowed, as in Istio.

import { isIp } from '../../../base/ip.ts';
import { quoted, type Report } from '../../report.ts';

const HOST_LENGTH_MAX = 255;
const LABEL_LENGTH_MAX = 63;
const LABEL = /^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/;
const WILDCARD_LABEL = /^\*$|^(\*|\*-)?[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/;
const GENERATED_SNI_PREFIX = 'outbound_';
const INTEGER = /^[+-]?\d+$/;
/**
 * What most hosts look like: short enough for any label, letters at the end. Nothing in it can be tried in two ways.
 */
const PLAIN_HOST = /^(?=.{1,63}$)(?:[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*\.)*[A-Za-z]+$/;

/** Istio's label: as RFC 1123, in either case. */
export function isLabel(text: string): boolean {
  return text.length <= LABEL_LENGTH_MAX && LABEL.test(text);
}

/** The problem of a full name, if any. A final dot is allowed. */
export function fqdnProblem(host: string): string | undefined {
  return lengthProblem(host) ?? labelsProblem(host);
}

/** As fqdnProblem; the first label may be a wildcard: `*`, `*name`, `*-name`. */
export function wildcardHostProblem(host: string): string | undefined {
  const length = lengthProblem(host);
  if (length !== undefined) return length;
  const dot = host.indexOf('.');
  const first = dot < 0 ? host : host.slice(0, dot);
  if (first.length > LABEL_LENGTH_MAX || !WILDCARD_LABEL.test(first)) return badLabel(host, first);
  return dot < 0 ? undefined : labelsProblem(host.slice(dot + 1));
}

/**
 * As wildcardHostProblem; a name that Istio makes for a gateway between networks is accepted too, such as
 * `outbound_.80_._.name.namespace.svc.cluster.local`: a port with a digit, then a subset, then a host with a letter.
 * Source: Istio pkg/config/validation/agent (ValidateWildcardDomainForVirtualServiceBoundToGateway).
 */
export function sniHostProblem(host: string): string | undefined {
  if (host.length > HOST_LENGTH_MAX || !host.startsWith(GENERATED_SNI_PREFIX)) return wildcardHostProblem(host);
  const [, port = '', , name = ''] = host.split('_');
  if (/[0-9]/.test(port) && /[A-Za-z]/.test(name)) return undefined;
  return `${quoted(host)} is not a generated SNI host: expected outbound_.PORT_.SUBSET_.HOST`;
}

export function checkFqdn(host: string | undefined, path: string, report: Report): void {
  const found = fqdnProblem(host ?? '');
  if (found !== undefined) report(path, found);
}

export function checkWildcardHost(host: string | undefined, path: string, report: Report): void {
  const found = wildcardHostProblem(host ?? '');
  if (found !== undefined) report(path, found);
}

/**
 * The hosts of Gateways (namespace optional, IPv4 addresses allowed) and Sidecars (namespace required, `~` allowed).
 */
export function checkNamespacedHost(entry: string, of: 'Gateway' | 'Sidecar', path: string, report: Report): void {
  const slash = entry.indexOf('/');
  if (slash < 0) {
    if (of === 'Gateway') checkHostPart(entry, of, path, report);
    else report(path, `${quoted(entry)} has no namespace: expected namespace/host, where either may be *`);
    return;
  }
  const namespace = entry.slice(0, slash);
  const wild = namespace === '*' || namespace === '.' || (of === 'Sidecar' && namespace === '~');
  if (!wild && !isLabel(namespace)) {
    report(path, `${quoted(namespace)} is not a namespace of a ${of}: expected a name, "*" or "."`);
  }
  checkHostPart(entry.slice(slash + 1), of, path, report);
}

function checkHostPart(host: string, of: 'Gateway' | 'Sidecar', path: string, report: Report): void {
  if (host !== '*' && host !== '' && !host.includes('.')) {
    report(path, `${quoted(host)} is a short name: expected a full one, such as name.namespace.svc.cluster.local`);
  }
  if (of === 'Sidecar' || !isIp(host)) checkWildcardHost(host, path, report);
  // More than the check of a wildcard asks: ServiceEntries and VirtualServices may have `*name` and `*-name`.
  if (host !== '*' && host.includes('*') && !host.startsWith('*.')) {
    report(path, `${quoted(host)} has a wildcard within a label: expected "*" or "*." before a name`);
  }
}

/** Names of Gateways, or the word `mesh`. Like Istio's, the check ends with the first that has no namespace. */
export function checkGatewayNames(gateways: readonly string[], path: string, report: Report): void {
  for (const [i, gateway] of gateways.entries()) {
    checkGatewayName(gateway, `${path}[${i}]`, report);
    if (!gateway.includes('/')) return;
  }
}

/** `name` or `namespace/name`. */
function checkGatewayName(gateway: string, path: string, report: Report): void {
  const slash = gateway.indexOf('/');
  if (slash < 0) {
    checkFqdn(gateway, path, report);
    return;
  }
  const namespace = gateway.slice(0, slash);
  if (!isLabel(namespace)) report(path, `${quoted(namespace)} is not a namespace`);
  const name = gateway.slice(slash + 1);
  if (!isLabel(name)) report(path, `${quoted(name)} is not the name of a Gateway: expected namespace/name`);
}

function lengthProblem(host: string): string | undefined {
  if (host === '') return 'the host name is missing';
  return host.length > HOST_LENGTH_MAX
    ? `${quoted(host)} is ${host.length} characters long; a host name has at most ${HOST_LENGTH_MAX}`
    : undefined;
}

function labelsProblem(host: string): string | undefined {
  if (PLAIN_HOST.test(host)) return undefined;
  const labels = host.split('.');
  const top = labels.at(-1) ?? '';
  if (INTEGER.test(top)) return `${quoted(host)} is not a host name: it cannot end in a number`;
  const checked = top === '' ? labels.slice(0, -1) : labels;
  const bad = checked.find(label => !isLabel(label));
  return bad === undefined ? undefined : badLabel(host, bad);
}

function badLabel(host: string, label: string): string {
  return `${quoted(host)} is not a host name: ${quoted(label)} is not one of letters, digits and "-" between dots`;
}
