// The policies in a proxy's filters, listener by listener and chain by chain, as `istioctl x authz check` reads them
// out of Envoy: what is listed is what is enforced, wherever it came from.

import { messageOf, typeIn } from '../../oracle/any.ts';
import type { ProxyConfig } from '../../oracle/question.ts';
import { type AnyMessage, type HttpRBAC, type NetworkRBAC, type RBAC, RBAC_Action } from '../../xds/proto/types.gen.ts';

export interface ListedPolicy {
  readonly listener: string;
  /** Ports that the chains match; 0: every other. */
  readonly ports: readonly number[];
  readonly protocol: 'http' | 'tcp';
  readonly action: 'ALLOW' | 'DENY' | 'AUDIT' | 'CUSTOM' | 'JWT';
  /** `refuses`: its provider cannot be used, so what it matches is refused. */
  readonly mode: 'enforced' | 'dry-run' | 'refuses';
  /** `name.namespace`; of JWT the issuer. */
  readonly policy: string;
  /** Indexes of its rules; a rule that is missing could not be enforced on this protocol and was dropped. */
  readonly rules: readonly number[];
}

const KEY =
  /^(istio-ext-authz-.*?)?-?ns\[([^\]]+)\]-policy\[([^\]]+)\]-rule\[(\d+)\](-deny-due-to-bad-CUSTOM-action)?$/;
const ACTIONS = { [RBAC_Action.ALLOW]: 'ALLOW', [RBAC_Action.DENY]: 'DENY', [RBAC_Action.LOG]: 'AUDIT' } as const;

/** Chains with the same policies are one row; in the order of the listeners and of Envoy's filters. */
export function listPolicies(config: ProxyConfig): readonly ListedPolicy[] {
  const rows = new Map<string, ListedPolicy & { readonly ports: number[] }>();
  for (const { name = '', filterChains = [], defaultFilterChain } of config.listeners) {
    for (const chain of [...filterChains, ...(defaultFilterChain === undefined ? [] : [defaultFilterChain])]) {
      const port = chain.filterChainMatch?.destinationPort?.value ?? 0;
      for (const found of policiesIn(chain.filters ?? [])) {
        const key = JSON.stringify([name, found]);
        const row = rows.get(key) ?? { listener: name, ports: [], ...found };
        if (!row.ports.includes(port)) row.ports.push(port);
        rows.set(key, row);
      }
    }
  }
  return [...rows.values()];
}

/** Equal texts for equal filters of policies, and for equal ways of the chains to ask for certificates. */
export function policyText({ listeners }: ProxyConfig): string {
  const of = (filters: readonly { readonly typedConfig?: AnyMessage }[]): readonly unknown[] =>
    filters.flatMap(({ typedConfig }) => {
      const hcm = messageOf(
        'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
        typedConfig,
      );
      if (hcm !== undefined) return of(hcm.httpFilters ?? []);
      return POLICY_FILTER.test(typeIn(typedConfig)) ? [typedConfig] : [];
    });
  return JSON.stringify(
    listeners.map(({ name, filterChains = [] }) => [
      name,
      filterChains.map(({ filterChainMatch, filters = [], transportSocket }) => {
        const policies = of(filters);
        return policies.length === 0 ? [] : [filterChainMatch, policies, transportSocket];
      }),
    ]),
  );
}

const POLICY_FILTER = /\.(rbac|jwt_authn|ext_authz)\./;

type Found = Omit<ListedPolicy, 'listener' | 'ports'>;

function policiesIn(filters: readonly { readonly typedConfig?: AnyMessage }[]): readonly Found[] {
  return filters.flatMap(({ typedConfig }) => {
    const hcm = messageOf(
      'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
      typedConfig,
    );
    if (hcm !== undefined) return policiesIn(hcm.httpFilters ?? []);
    const http = messageOf('envoy.extensions.filters.http.rbac.v3.RBAC', typedConfig);
    if (http !== undefined) return ofRbac(http, 'http');
    const network = messageOf('envoy.extensions.filters.network.rbac.v3.RBAC', typedConfig);
    if (network !== undefined) return ofRbac(network, 'tcp');
    const jwt = messageOf('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication', typedConfig);
    return Object.values(jwt?.providers ?? {}).map(({ issuer = '' }) => ({
      protocol: 'http' as const,
      action: 'JWT' as const,
      mode: 'enforced' as const,
      policy: issuer,
      rules: [],
    }));
  });
}

function ofRbac({ rules, shadowRules }: HttpRBAC | NetworkRBAC, protocol: Found['protocol']): readonly Found[] {
  return [...ofRules(rules, protocol, 'enforced'), ...ofRules(shadowRules, protocol, 'dry-run')];
}

function ofRules(rules: RBAC | undefined, protocol: Found['protocol'], mode: Found['mode']): readonly Found[] {
  const found = new Map<string, Found & { readonly rules: number[] }>();
  const action = ACTIONS[rules?.action ?? RBAC_Action.ALLOW];
  for (const key of Object.keys(rules?.policies ?? {})) {
    const [, custom, namespace = '', name = '', rule = '', bad] = KEY.exec(key) ?? [];
    const policy = `${name}.${namespace}`;
    const row = found.get(policy) ?? {
      protocol,
      action: custom === undefined ? action : 'CUSTOM',
      mode: bad !== undefined ? 'refuses' : custom !== undefined ? 'enforced' : mode,
      policy,
      rules: [],
    };
    row.rules.push(Number(rule));
    found.set(policy, row);
  }
  return [...found.values()];
}
