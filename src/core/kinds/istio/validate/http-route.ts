// One HTTP route of a VirtualService: its matches, destinations and actions.
// Source: Istio pkg/config/validation/virtualservice.go (validateHTTPRoute).

import { canonicalJson, type Json } from '../../../base/json.ts';
import { keysOf } from '../../../base/keys.ts';
import type {
  HTTPDirectResponse,
  HTTPMatchRequest,
  HTTPMirrorPolicy,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
} from '../../../schema/istio-types.gen.ts';
import { OBJECT_CHARS_MAX } from '../../limits.ts';
import { quoted, type Report } from '../../report.ts';
import { checkWorkloadLabels } from '../../validate/labels.ts';
import { checkPort } from '../../validate/ports.ts';
import { checkDestination, checkWeights } from './destinations.ts';
import { checkDuration } from './durations.ts';
import { checkHeaderOperations, checkHeaderToken, isAuthority, isMatchedHeader } from './headers.ts';
import { checkGatewayNames, isLabel } from './hosts.ts';
import { checkCors, checkFault, checkRetries, checkStatus } from './http-policy.ts';
import { checkRegex } from './regex.ts';
import { checkStringMatch } from './string-match.ts';

/**
 * Matches of a rule times its destinations, summed over the rules of one VirtualService, times its hosts. Every match
 * becomes a route with all destinations in the virtual host of each host, so this decides the size of the answer, from
 * some 50 MB on here: no proxy takes it.
 */
export const ROUTE_DESTINATIONS_MAX = 1_000_000;

/** Characters of the rules as JSON, times hosts: whatever a rule has stands in the virtual host of each host. */
export const ROUTE_CHARS_MAX = 100_000_000;

/** Routes times destinations of the rules, mirrors among them. */
export function routeDestinations(rules: readonly HTTPRoute[] = []): number {
  let sum = 0;
  for (const { match = [], route = [], mirrors = [] } of rules)
    sum += Math.max(1, match.length) * Math.max(1, route.length + mirrors.length);
  return sum;
}

export function checkProducts(rules: readonly HTTPRoute[], hosts: number, path: string, report: Report): void {
  const all = routeDestinations(rules) * Math.max(1, hosts);
  if (all > ROUTE_DESTINATIONS_MAX) {
    report(
      path,
      `hosts times matches times destinations come to ${all}; at most ${ROUTE_DESTINATIONS_MAX} are allowed`,
    );
  } else if (hosts * OBJECT_CHARS_MAX > ROUTE_CHARS_MAX) {
    const chars = hosts * canonicalJson(rules as Json).length;
    if (chars > ROUTE_CHARS_MAX) {
      report(path, `hosts times characters of the rules come to ${chars}; at most ${ROUTE_CHARS_MAX} are allowed`);
    }
  }
}

/** `inDelegate`: the VirtualService has no hosts; its routes are taken in by another. */
export function checkHttpRoute(route: HTTPRoute, inDelegate: boolean, path: string, report: Report): void {
  const root = !inDelegate && route.delegate !== undefined;
  if (root) checkRoot(route, path, report);
  else checkActions(route, inDelegate, path, report);
  (route.match ?? []).forEach((match, i) => {
    checkMatch(match, `${path}.match[${i}]`, report);
  });
  checkHeaderOperations(route.headers, `${path}.headers`, report);
  checkCors(route.corsPolicy, `${path}.corsPolicy`, report);
  checkFault(route.fault, `${path}.fault`, report);
  checkMirrors(route, path, report);
  checkRedirect(route.redirect, `${path}.redirect`, report);
  checkDirectResponse(route.directResponse, `${path}.directResponse`, report);
  checkRetries(route.retries, `${path}.retries`, report);
  checkRewrite(route.rewrite, `${path}.rewrite`, report);
  checkAuthority(route, path, report);
  const destinations = route.route ?? [];
  destinations.forEach(({ destination, headers }, i) => {
    checkDestination(destination, `${path}.route[${i}].destination`, report);
    checkHeaderOperations(headers, `${path}.route[${i}].headers`, report);
  });
  checkWeights(destinations, `${path}.route`, report);
  checkDuration(route.timeout, `${path}.timeout`, report);
}

function checkRoot(route: HTTPRoute, path: string, report: Report): void {
  // A directResponse may: it is for the delegate's rules.
  if (route.redirect !== undefined) report(`${path}.redirect`, 'cannot be combined with delegate');
  if ((route.route ?? []).length > 0) report(`${path}.route`, 'cannot be combined with delegate');
}

function checkActions(route: HTTPRoute, inDelegate: boolean, path: string, report: Report): void {
  if (inDelegate && route.delegate !== undefined) report(`${path}.delegate`, 'a delegate cannot delegate further');
  const routed = (route.route ?? []).length > 0;
  const alone = route.redirect !== undefined ? 'redirect' : 'directResponse';
  if (route[alone] === undefined) {
    if (!routed) report(path, 'has no action: expected route, redirect or directResponse');
  } else {
    if (routed) report(`${path}.${alone}`, 'cannot be combined with route');
    for (const other of ['fault', 'rewrite'] as const) {
      if (route[other] !== undefined) report(`${path}.${alone}`, `cannot be combined with ${other}`);
    }
    if (alone === 'redirect' && route.directResponse !== undefined) {
      report(`${path}.redirect`, 'cannot be combined with directResponse');
    }
  }
  if (route.mirror !== undefined && (route.mirrors ?? []).length > 0) {
    report(`${path}.mirrors`, 'cannot be combined with mirror');
  }
}

function checkMatch(match: HTTPMatchRequest, path: string, report: Report): void {
  checkStringMatch(match.uri, `${path}.uri`, report, true);
  for (const field of ['scheme', 'method', 'authority'] as const) {
    checkStringMatch(match[field], `${path}.${field}`, report);
  }
  for (const field of ['headers', 'withoutHeaders', 'queryParams'] as const) {
    const members = match[field] ?? {};
    for (const name of keysOf(members)) {
      const value = members[name]!;
      // A header that must not be there at all, for one.
      const isSound = value.exact !== undefined || (field === 'withoutHeaders' && value.regex === '*');
      if (!isSound) checkStringMatch(value, `${path}.${field}[${name}]`, report);
      if (field !== 'queryParams' && !isMatchedHeader(name)) {
        checkHeaderToken(name, `${path}.${field}[${name}]`, report);
      }
    }
  }
  if (match.port) checkPort(match.port, `${path}.port`, report);
  checkWorkloadLabels(match.sourceLabels ?? {}, `${path}.sourceLabels`, report);
  checkGatewayNames(match.gateways ?? [], `${path}.gateways`, report);
  if (match.sourceNamespace && !isLabel(match.sourceNamespace)) {
    report(`${path}.sourceNamespace`, `${quoted(match.sourceNamespace)} is not a namespace`);
  }
}

function checkMirrors(route: HTTPRoute, path: string, report: Report): void {
  const { mirror, mirrorPercent = 0, mirrorPercentage } = route;
  if (mirror !== undefined) checkDestination(mirror, `${path}.mirror`, report);
  if (mirrorPercent > 100) report(`${path}.mirrorPercent`, `${mirrorPercent} is more than 100`);
  checkShare(mirrorPercentage?.value, `${path}.mirrorPercentage`, report);
  (route.mirrors ?? []).forEach((policy: HTTPMirrorPolicy, i) => {
    checkDestination(policy.destination, `${path}.mirrors[${i}].destination`, report);
    checkShare(policy.percentage?.value, `${path}.mirrors[${i}].percentage`, report);
  });
}

function checkShare(percent: number | undefined, path: string, report: Report): void {
  if (percent !== undefined && !(percent >= 0 && percent <= 100)) {
    report(`${path}.value`, `${percent} is not a percentage: expected 0 to 100`);
  }
}

function checkRedirect(redirect: HTTPRedirect | undefined, path: string, report: Report): void {
  if (redirect === undefined) return;
  const { uri, authority, scheme, port, derivePort, redirectCode } = redirect;
  if (!uri && !authority && !scheme && port === undefined && derivePort === undefined) {
    report(path, 'changes nothing: expected uri, authority, scheme or port');
  }
  if (scheme && scheme !== 'http' && scheme !== 'https') {
    report(`${path}.scheme`, `${quoted(scheme)} is not a redirect scheme: expected http or https`);
  }
  if (redirectCode && (redirectCode < 300 || redirectCode > 399)) {
    report(`${path}.redirectCode`, `${redirectCode} is not a redirect status code: expected 300 to 399`);
  }
  if (port) checkPort(port, `${path}.port`, report);
}

const BODY_LENGTH_MAX = 1024 * 1024;

function checkDirectResponse(response: HTTPDirectResponse | undefined, path: string, report: Report): void {
  if (response === undefined) return;
  checkStatus(response.status ?? 0, `${path}.status`, report);
  const length = response.body?.string?.length ?? response.body?.bytes?.length ?? 0;
  if (length > BODY_LENGTH_MAX)
    report(`${path}.body`, `has ${length} characters; at most ${BODY_LENGTH_MAX} are allowed`);
}

function checkRewrite(rewrite: HTTPRewrite | undefined, path: string, report: Report): void {
  if (rewrite === undefined) return;
  const { uri, authority, uriRegexRewrite: regex } = rewrite;
  if (!uri && !authority && regex === undefined) {
    report(path, 'changes nothing: expected uri, uriRegexRewrite or authority');
  }
  if (uri && regex !== undefined) report(`${path}.uriRegexRewrite`, 'cannot be combined with uri');
  if (regex === undefined) return;
  if (!regex.match || !regex.rewrite) report(`${path}.uriRegexRewrite`, 'needs both match and rewrite');
  if (regex.match) checkRegex(regex.match, `${path}.uriRegexRewrite.match`, report);
}

/** Only one place may set the requested host. */
function checkAuthority(route: HTTPRoute, path: string, report: Report): void {
  const places = route.rewrite?.authority ? [`${path}.rewrite.authority`] : [];
  for (const kind of ['set', 'add'] as const) {
    for (const name of keysOf(route.headers?.request?.[kind] ?? {})) {
      if (isAuthority(name)) places.push(`${path}.headers.request.${kind}[${name}]`);
    }
  }
  for (const again of places.slice(1)) report(again, `sets the authority, as ${places[0]} does already`);
}
