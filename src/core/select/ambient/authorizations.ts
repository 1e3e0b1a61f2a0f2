// AuthorizationPolicies for ztunnel: which are sent, and which a workload lists. Those with target references are for
// waypoints; AUDIT and CUSTOM are none of ztunnel's actions.
// Source: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertAuthorizationPolicy),
// pilot/pkg/serviceregistry/ambient/workloads.go (buildWorkloadPolicies).

import { goBoolean } from '../../base/go-boolean.ts';
import { selects } from '../../base/labels.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { Rule } from '../../schema/istio-types.gen.ts';
import { targetsOf } from '../policy/attachment.ts';
import { type LabelledIn, labelledKey } from './peer-authentications.ts';
import { type Waypoint, waypointAccounts, waypointNamed, waypoints } from './waypoints.ts';

export interface AuthorizationInputs {
  readonly namespace: string;
  readonly name: string;
  readonly scope: 'GLOBAL' | 'NAMESPACE' | 'WORKLOAD_SELECTOR';
  readonly action: 'ALLOW' | 'DENY';
  readonly dryRun: boolean;
  readonly rules: readonly Rule[];
}

/** An identity that may call whatever uses a waypoint. */
export interface WaypointAllowance {
  readonly namespace: string;
  readonly name: string;
  /** Without `spiffe://`, sorted. */
  readonly principals: readonly string[];
}

const DRY_RUN = 'istio.io/dry-run';

/** Argument `namespace/name`. Undefined: ztunnel does not get it. */
export const authorizationNamed: Query<string, AuthorizationInputs | undefined> = {
  name: 'select/ambient/authorizationNamed',
  run: (reader, key) => {
    const policy = reader.object('AuthorizationPolicy', key);
    if (policy === undefined || targetsOf(policy.spec).length > 0) return undefined;
    const { namespace, name, spec } = policy;
    const dryRun = goBoolean(policy.annotations[DRY_RUN]) ?? false;
    if (dryRun && !reader.feature('AMBIENT_ENABLE_DRY_RUN_AUTHORIZATION_POLICY')) return undefined;
    const { action = 'ALLOW', rules = [] } = spec;
    if (action !== 'ALLOW' && action !== 'DENY') return undefined;
    return { namespace, name, scope: scopeOf(reader, policy), action, dryRun, rules };
  },
};

/** Argument ''. All that are sent, in key order. */
export const authorizations: Query<'', readonly AuthorizationInputs[]> = {
  name: 'select/ambient/authorizations',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return [];
    return reader
      .objects('AuthorizationPolicy')
      .map(({ namespace, name }) => reader.get(authorizationNamed, configKey(namespace, name)))
      .filter(policy => policy !== undefined);
  },
};

/**
 * A selector without a list of labels selects nothing here, an empty list all. A policy with an undecided selection has
 * no selector, so it reaches all that it could select.
 */
function scopeOf(reader: Reader, { namespace, spec }: Obj<'AuthorizationPolicy'>): AuthorizationInputs['scope'] {
  if (spec.selector !== undefined) return 'WORKLOAD_SELECTOR';
  return namespace === reader.mesh('rootNamespace') ? 'GLOBAL' : 'NAMESPACE';
}

/** Names of the policies with a selector that a workload lists, sorted. */
export const authorizationsOf: Query<LabelledIn, readonly string[]> = {
  name: 'select/ambient/authorizationsOf',
  key: labelledKey,
  run: (reader, { namespace, labels }) => {
    const root = reader.mesh('rootNamespace');
    const found: string[] = [];
    for (const place of new Set([namespace, root])) {
      for (const { name, spec } of reader.objects('AuthorizationPolicy', `${place}/`)) {
        const selector = spec.selector?.matchLabels;
        if (selector === undefined || !selects(selector, labels)) continue;
        const key = configKey(place, name);
        if (reader.get(authorizationNamed, key) !== undefined) found.push(key);
      }
    }
    return found.sort();
  },
};

/** Argument ''. One for each waypoint with pods. */
export const waypointAllowances: Query<'', readonly WaypointAllowance[]> = {
  name: 'select/ambient/waypointAllowances',
  run: reader => {
    if (!reader.feature('PILOT_AUTO_ALLOW_WAYPOINT_POLICY')) return [];
    return reader.get(waypoints, '').flatMap(({ namespace, name }) => {
      const accounts = reader.get(waypointAccounts, configKey(namespace, name));
      if (accounts.length === 0) return [];
      const principals = accounts.map(account => `${reader.mesh('trustDomain')}/ns/${namespace}/sa/${account}`);
      return [{ namespace, name: allowanceName(namespace, name), principals }];
    });
  },
};

/** Names of the allowances that a workload lists. `keys`: of the waypoints of its services, empty for none. */
export function allowancesOf(reader: Reader, own: Waypoint | undefined, keys: readonly string[]): readonly string[] {
  if (!reader.feature('PILOT_AUTO_ALLOW_WAYPOINT_POLICY')) return [];
  const ownKey = own && configKey(own.namespace, own.name);
  const others = [...new Set(keys)].filter(key => key !== ownKey).sort();
  return [...others.map(key => reader.get(waypointNamed, key)), own].flatMap(waypoint => {
    if (waypoint === undefined) return [];
    const { namespace, name } = waypoint;
    const hasPods = reader.get(waypointAccounts, configKey(namespace, name)).length > 0;
    return hasPods ? [configKey(namespace, allowanceName(namespace, name))] : [];
  });
}

function allowanceName(namespace: string, name: string): string {
  return `istio_allow_waypoint_${namespace}_${name}`;
}
