// An AuthorizationPolicy as ztunnel takes it: groups of which one must match, each a list of rules that all must match.
// ztunnel knows no HTTP: a rule with an attribute of HTTP is left out of an ALLOW policy, and its other parts stay in a
// DENY policy; both refuse more than was asked for.
// Source: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertAuthorizationPolicy, handleRule).

import { ipBytes, isCidr, isIp } from '../../../core/base/ip.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Condition, Operation, Rule, Source } from '../../../core/schema/istio-types.gen.ts';
import type { AuthorizationInputs } from '../../../core/select/ambient/authorizations.ts';
import type { RuleRange } from '../../../core/select/policy/rule-ranges.ts';
import {
  type Authorization,
  type Match,
  type Rules,
  SecurityAction,
  type SecurityAddress,
  SecurityScope,
  type ServiceAccountMatch,
  type StringMatch,
} from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';

const PORT_MAX = 65_535;
const L4_KEYS: readonly string[] = [
  'source.ip',
  'source.namespace',
  'source.principal',
  'destination.ip',
  'destination.port',
];

type Groups = readonly NonNullable<Authorization['groups']>[number][];

/** `groups`: those of the ranges of its rules, in order; undefined: it has so few that they are made here. */
export const authorization: Generator<
  { readonly policy: AuthorizationInputs; readonly groups?: readonly Groups[] | undefined },
  Resource<Authorization>
> = {
  name: 'workload/authorization',
  run: ({ policy, groups = [groupsOf(policy)] }) => {
    const { namespace, name, scope, action, dryRun } = policy;
    return {
      name: `${namespace}/${name}`,
      message: {
        name,
        namespace,
        scope: SecurityScope[scope],
        action: SecurityAction[action],
        groups: orNone(groups.flat()),
        dryRun,
      },
      problems: [],
    };
  },
};

export const authorizationGroups: Generator<
  { readonly policy: AuthorizationInputs; readonly range: RuleRange },
  Groups
> = {
  name: 'workload/authorizationGroups',
  run: ({ policy, range: { from, to } }) => groupsOf(policy, from, to),
  work: (_, { range }) => range.work,
};

function groupsOf({ namespace, action, rules }: AuthorizationInputs, from = 0, to = rules.length): Groups {
  return rules
    .slice(from, to)
    .filter(rule => action === 'DENY' || !hasHttp(rule))
    .map(rule => ({ rules: orNone(rulesOf(rule, namespace)) }));
}

function rulesOf({ to = [], from = [], when = [] }: Rule, namespace: string): readonly Rules[] {
  const rules: Rules[] = [];
  if (to.length > 0) rules.push({ matches: to.map(({ operation }) => operationMatch(operation ?? {})) });
  if (from.length > 0) rules.push({ matches: from.map(({ source }) => sourceMatch(source ?? {}, namespace)) });
  for (const condition of when) rules.push({ matches: [conditionMatch(condition)] });
  return rules;
}

function hasHttp({ to = [], from = [], when = [] }: Rule): boolean {
  return (
    to.some(({ operation }) => operation !== undefined && isHttpOperation(operation)) ||
    from.some(({ source }) => source !== undefined && isHttpSource(source)) ||
    when.some(({ key = '' }) => !L4_KEYS.includes(key))
  );
}

function isHttpOperation({ hosts, notHosts, methods, notMethods, paths, notPaths }: Operation): boolean {
  return [hosts, notHosts, methods, notMethods, paths, notPaths].some(isGiven);
}

function isHttpSource(source: Source): boolean {
  const { remoteIpBlocks, notRemoteIpBlocks, requestPrincipals, notRequestPrincipals } = source;
  return [remoteIpBlocks, notRemoteIpBlocks, requestPrincipals, notRequestPrincipals].some(isGiven);
}

function isGiven(list: readonly string[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

function operationMatch({ ports, notPorts }: Operation): Match {
  return { destinationPorts: portsOf(ports), notDestinationPorts: portsOf(notPorts) };
}

function sourceMatch(source: Source, namespace: string): Match {
  return {
    sourceIps: addressesOf(source.ipBlocks),
    notSourceIps: addressesOf(source.notIpBlocks),
    namespaces: textsOf(source.namespaces),
    notNamespaces: textsOf(source.notNamespaces),
    serviceAccounts: accountsOf(source.serviceAccounts, namespace),
    notServiceAccounts: accountsOf(source.notServiceAccounts, namespace),
    principals: textsOf(source.principals),
    notPrincipals: textsOf(source.notPrincipals),
  };
}

/** A key of HTTP gives a match without conditions. */
function conditionMatch({ key, values, notValues }: Condition): Match {
  switch (key) {
    case 'source.namespace':
      return { namespaces: textsOf(values), notNamespaces: textsOf(notValues) };
    case 'source.principal':
      return { principals: textsOf(values), notPrincipals: textsOf(notValues) };
    case 'source.ip':
      return { sourceIps: addressesOf(values), notSourceIps: addressesOf(notValues) };
    case 'destination.ip':
      return { destinationIps: addressesOf(values), notDestinationIps: addressesOf(notValues) };
    case 'destination.port':
      return { destinationPorts: portsOf(values), notDestinationPorts: portsOf(notValues) };
    default:
      return {};
  }
}

/** What is no port is left out. */
function portsOf(texts: readonly string[] = []): readonly number[] | undefined {
  return orNone(texts.filter(text => /^\d+$/.test(text) && Number(text) <= PORT_MAX).map(Number));
}

function textsOf(texts: readonly string[] = []): readonly StringMatch[] | undefined {
  return orNone(texts.map(textMatch));
}

export function textMatch(text: string): StringMatch {
  if (text === '*') return { presence: {} };
  if (text.startsWith('*')) return { suffix: text.slice(1) };
  return text.endsWith('*') ? { prefix: text.slice(0, -1) } : { exact: text };
}

/** `namespace/account`, or the name of an account beside the policy. */
function accountsOf(texts: readonly string[] = [], namespace: string): readonly ServiceAccountMatch[] | undefined {
  return orNone(
    texts.map(text => {
      const slash = text.indexOf('/');
      if (slash < 0) return { namespace, serviceAccount: text };
      return { namespace: text.slice(0, slash), serviceAccount: text.slice(slash + 1) };
    }),
  );
}

/** Bits behind a prefix stay in its address; what is no address is left out. */
function addressesOf(texts: readonly string[] = []): readonly SecurityAddress[] | undefined {
  return orNone(texts.flatMap(addressOf));
}

function addressOf(text: string): readonly SecurityAddress[] {
  if (isCidr(text)) {
    const [address = '', length] = text.split('/');
    return [{ address: ipBytes(address), length: Number(length) }];
  }
  if (!isIp(text)) return [];
  const address = ipBytes(text);
  return [{ address, length: address.length * 8 }];
}
