// EnvoyFilter: patches to generated configuration. Rules: Istio pkg/config/validation/envoyfilter
// (ValidateEnvoyFilter).
//
// A patch must be decodable as the message it is merged into. Unknown fields are accepted, because proxies may be newer
// than our schema; a wrong type and an unknown extension are refused.

import { isLeft } from 'fp-ts/lib/Either.js';
import { isObject, type Json } from '../../base/json.ts';
import { envoyProblems } from '../../schema/envoy.ts';
import { decodeIstio } from '../../schema/istio.ts';
import type {
  EnvoyFilter,
  EnvoyFilter_EnvoyConfigObjectMatch as Match,
  EnvoyFilter_EnvoyConfigObjectPatch as Patch,
} from '../../schema/istio-types.gen.ts';
import { checked, quoted, type Report } from '../report.ts';
import { istioKind, NETWORKING } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkRegex } from './validate/regex.ts';
import { checkSelector } from './validate/selectors.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly EnvoyFilter: { readonly spec: EnvoyFilter; readonly push: 'config' };
  }
}

export const envoyFilter = istioKind({
  kind: 'EnvoyFilter',
  group: NETWORKING,
  versions: ['v1alpha3'],
  push: 'config',
  type: 'istio.networking.v1alpha3.EnvoyFilter',
  rules: checkEnvoyFilter,
  standIn: { specOf: ({ spec }) => soundEntries(spec), effect: () => 'the entries without a problem act' },
  references: policyReferences,
});

type ApplyTo = Exclude<NonNullable<Patch['applyTo']>, 'INVALID'>;

/** The message that a patch is part of. */
const MESSAGES: Readonly<Record<ApplyTo, string>> = {
  LISTENER: 'envoy.config.listener.v3.Listener',
  FILTER_CHAIN: 'envoy.config.listener.v3.FilterChain',
  NETWORK_FILTER: 'envoy.config.listener.v3.Filter',
  LISTENER_FILTER: 'envoy.config.listener.v3.ListenerFilter',
  HTTP_FILTER: 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ROUTE_CONFIGURATION: 'envoy.config.route.v3.RouteConfiguration',
  VIRTUAL_HOST: 'envoy.config.route.v3.VirtualHost',
  HTTP_ROUTE: 'envoy.config.route.v3.Route',
  CLUSTER: 'envoy.config.cluster.v3.Cluster',
  EXTENSION_CONFIG: 'envoy.config.core.v3.TypedExtensionConfig',
  BOOTSTRAP: 'envoy.config.bootstrap.v3.Bootstrap',
};

/** The full name of the message that the value of a patch is. */
export function envoyValueType(applyTo: ApplyTo): string {
  return MESSAGES[applyTo];
}

type Object = 'listener' | 'routeConfiguration' | 'cluster';
/** The fields of a match that are checked; others are not. */
const MATCHES: Readonly<Partial<Record<ApplyTo, Object>>> = {
  LISTENER: 'listener',
  FILTER_CHAIN: 'listener',
  NETWORK_FILTER: 'listener',
  HTTP_FILTER: 'listener',
  ROUTE_CONFIGURATION: 'routeConfiguration',
  VIRTUAL_HOST: 'routeConfiguration',
  HTTP_ROUTE: 'routeConfiguration',
  CLUSTER: 'cluster',
};
const OBJECTS = ['listener', 'routeConfiguration', 'cluster', 'waypoint'] as const;
const CONNECTION_MANAGERS: readonly string[] = [
  'envoy.filters.network.http_connection_manager',
  'envoy.http_connection_manager',
];

function checkEnvoyFilter({ workloadSelector, configPatches = [] }: EnvoyFilter, report: Report): void {
  checkSelector(workloadSelector?.labels, 'spec.workloadSelector.labels', report);
  configPatches.forEach((patch, i) => {
    // Istio does not check patches of waypoints.
    if (patch.match?.context !== 'WAYPOINT') checkPatch(patch, `spec.configPatches[${i}]`, report);
  });
}

const TYPE = 'istio.networking.v1alpha3.EnvoyFilter';

/**
 * The entries that can be read and have no problem; in place of others an entry without effect, so that the places of
 * the others stay. undefined: the object cannot be read besides its entries, or has no entry that could act.
 */
function soundEntries(spec: Json | undefined): EnvoyFilter | undefined {
  if (!isObject(spec) || !Array.isArray(spec.configPatches)) return undefined;
  const { configPatches, ...rest } = spec;
  const head = decodeIstio(TYPE, rest, 'spec');
  if (isLeft(head) || isLeft(checked(head.right, checkEnvoyFilter))) return undefined;
  const entries = (configPatches as readonly Json[]).map((entry): Patch => {
    if (!isObject(entry) || !isObject(entry.patch)) return {};
    const decoded = decodeIstio(`${TYPE}.EnvoyConfigObjectPatch`, entry, 'entry');
    if (isLeft(decoded)) return {};
    let isSound = true;
    checkPatch(decoded.right, 'entry', () => {
      isSound = false;
    });
    return isSound ? decoded.right : {};
  });
  return entries.some(({ patch }) => patch !== undefined) ? { ...head.right, configPatches: entries } : undefined;
}

function checkPatch({ applyTo = 'INVALID', match, patch }: Patch, path: string, report: Report): void {
  const { operation = 'INVALID', value } = patch ?? {};
  if (applyTo === 'INVALID') report(`${path}.applyTo`, 'is missing');
  if (patch === undefined) report(`${path}.patch`, 'is missing');
  else if (operation === 'INVALID') report(`${path}.patch.operation`, 'is missing');
  else if (operation !== 'REMOVE' && value === undefined) {
    report(`${path}.patch.value`, `is missing, and operation ${operation} needs it`);
  }
  const proxyVersion = match?.proxy?.proxyVersion ?? '';
  if (proxyVersion !== '') checkRegex(proxyVersion, `${path}.match.proxy.proxyVersion`, report);
  if (applyTo === 'INVALID') return;
  if (match !== undefined) checkMatch(match, applyTo, `${path}.match`, report);
  if (value === undefined) return;
  for (const found of envoyProblems(MESSAGES[applyTo], value, `${path}.patch.value`)) report(found.path, found.message);
}

function checkMatch(match: Match, applyTo: ApplyTo, path: string, report: Report): void {
  const allowed = MATCHES[applyTo];
  const given = OBJECTS.find(name => match[name] !== undefined);
  if (allowed === undefined || given === undefined) return;
  if (given !== allowed) report(`${path}.${given}`, `does not go with applyTo ${applyTo}: expected ${allowed}`);
  const filter = allowed === 'listener' ? match.listener?.filterChain?.filter : undefined;
  if (filter === undefined) return;
  const { name = '', subFilter } = filter;
  const at = `${path}.listener.filterChain.filter`;
  if (name === '') report(`${at}.name`, 'is missing');
  if (subFilter === undefined) return;
  if (applyTo !== 'HTTP_FILTER') report(`${at}.subFilter`, `has no meaning with applyTo ${applyTo}`);
  else if (name !== '' && !CONNECTION_MANAGERS.includes(name)) {
    report(`${at}.subFilter`, `${quoted(name)} has no filters inside: expected ${CONNECTION_MANAGERS[0]}`);
  } else if (!subFilter.name) report(`${at}.subFilter.name`, 'is missing');
}
