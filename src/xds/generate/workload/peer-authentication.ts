// PeerAuthentications as policies of ztunnel: each denies what has no identity, at the ports where that is wrong.
//
// Two rules of istiod look like slips and are kept, since a mesh may rely on what they give: where mesh and namespace
// are STRICT by the mesh alone, a STRICT port of a laxer workload gets no policy; and the workload lists the policy
// all the same.
// Source: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertPeerAuthentication).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { WaypointAllowance } from '../../../core/select/ambient/authorizations.ts';
import { type PortLevels, STATIC_STRICT } from '../../../core/select/ambient/peer-authentications.ts';
import { type Authorization, type Group, type Match, SecurityAction, SecurityScope } from '../../proto/types.gen.ts';

const noIdentity: Match = { notPrincipals: [{ presence: {} }] };

/** For workloads that are STRICT as a whole. */
export const staticStrict: Generator<{ readonly rootNamespace: string }, Resource<Authorization>> = {
  name: 'workload/staticStrict',
  run: ({ rootNamespace }) => policyOf(rootNamespace, STATIC_STRICT, 'DENY', [{ rules: [{ matches: [noIdentity] }] }]),
};

/** Undefined: the ports differ in nothing from what holds without them. */
export const portLevelAuthorization: Generator<{ readonly levels: PortLevels }, Resource<Authorization> | undefined> = {
  name: 'workload/portLevelAuthorization',
  run: ({ levels }) => {
    const { namespace, name, mode } = levels;
    const exempt = exemptPorts(levels);
    if (mode === 'STRICT' && exempt.length === 0) return undefined;
    const matches: Match[] = mode === 'STRICT' ? [noIdentity] : [];
    matches.push(...exempt.map(port => ({ notDestinationPorts: [port] })));
    if (exempt.length > 0 && isStrictAbove(levels)) matches.push(noIdentity);
    const groups: Group[] = strictPorts(levels).map(port => ({
      rules: [{ matches: [{ ...noIdentity, destinationPorts: [port] }] }],
    }));
    if (matches.length > 0) groups.push({ rules: matches.map(match => ({ matches: [match] })) });
    return groups.length === 0 ? undefined : policyOf(namespace, name, 'DENY', groups);
  },
};

/** Pods of a waypoint may call what uses it. */
export const waypointAllowance: Generator<{ readonly allowance: WaypointAllowance }, Resource<Authorization>> = {
  name: 'workload/waypointAllowance',
  run: ({ allowance: { namespace, name, principals } }) => {
    const match: Match = { principals: principals.map(exact => ({ exact })) };
    return policyOf(namespace, name, 'ALLOW', [{ rules: [{ matches: [match] }] }]);
  },
};

/** STRICT ports that nothing above makes strict. */
function strictPorts({ mode, ofNamespace, ofMesh, ports }: PortLevels): readonly number[] {
  const inherited =
    mode === 'STRICT' ||
    (mode === 'UNSET' && ofNamespace === 'STRICT') ||
    ((ofNamespace ?? 'UNSET') === 'UNSET' && ofMesh === 'STRICT');
  return inherited ? [] : ports.filter(([, port]) => port === 'STRICT').map(([port]) => port);
}

/** Ports that are open where the rest is strict. */
function exemptPorts({ mode, ofNamespace, ofMesh, ports }: PortLevels): readonly number[] {
  if (mode === 'PERMISSIVE' || mode === 'DISABLE') return [];
  // A namespace policy counts as one that is not strict even if it is UNSET.
  if (mode === 'UNSET' && (ofNamespace ?? ofMesh) !== 'STRICT') return [];
  return ports.filter(([, port]) => port === 'PERMISSIVE' || port === 'DISABLE').map(([port]) => port);
}

function isStrictAbove({ ofNamespace, ofMesh }: PortLevels): boolean {
  return ofNamespace === 'STRICT' || (ofMesh === 'STRICT' && (ofNamespace ?? 'UNSET') === 'UNSET');
}

function policyOf(
  namespace: string,
  name: string,
  action: keyof typeof SecurityAction,
  groups: readonly Group[],
): Resource<Authorization> {
  const message: Authorization = {
    name,
    namespace,
    scope: SecurityScope.WORKLOAD_SELECTOR,
    action: SecurityAction[action],
    groups,
  };
  return { name: `${namespace}/${name}`, message, problems: [] };
}
