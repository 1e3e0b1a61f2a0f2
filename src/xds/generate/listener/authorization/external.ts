// The filters of CUSTOM policies: an RBAC filter in shadow mode finds a matching rule, and only then the filter behind
// it calls the external authorizer. One pair for each provider.
//
// An unusable provider has no pair: requests that match its rules are denied. TCP supports only gRPC authorizers.
// Source: Istio pilot/pkg/security/authz/builder/builder.go, pilot/pkg/security/authz/builder/extauthz.go.

import { compareText } from '../../../../core/model/object.ts';
import type { ExternalPolicies } from '../../../../core/select/policy/authorization.ts';
import type { ExternalAuthorizer } from '../../../../core/select/policy/external-authorizer.ts';
import { any } from '../../../proto/any.ts';
import {
  ApiVersion,
  type ExtAuthzHttpService,
  type Filter,
  type HttpExtAuthz,
  type HttpFilter,
  type ListStringMatcher,
  type MetadataMatcher,
  type NetworkExtAuthz,
  RBAC_Action,
  type StatusCode,
} from '../../../proto/types.gen.ts';
import { durationOf } from '../../common/duration.ts';
import { rbacFilter, ruleSet } from './rbac.ts';
import type { ChainContext } from './rule-block.ts';

const SHADOW_PREFIX = 'istio_ext_authz_';
const UNUSABLE_SUFFIX = '-deny-due-to-bad-CUSTOM-action';
const DEFAULT_TIMEOUT = { seconds: 600, nanos: 0 };

type Usable<K extends 'http' | 'grpc'> = Extract<ExternalAuthorizer, { readonly kind: K }>;

export function externalFilters(
  external: readonly ExternalPolicies[],
  context: ChainContext,
): readonly (HttpFilter & Filter)[] {
  return external.flatMap(policies => filtersOf(policies, context));
}

function filtersOf(
  { provider, authorizer, policies }: ExternalPolicies,
  context: ChainContext,
): readonly (HttpFilter & Filter)[] {
  const prefix = provider === '' ? 'istio-ext-authz' : `istio-ext-authz-${provider}`;
  const named = (name: string) => `${prefix}-${name}`;
  if (authorizer.kind === 'unusable') {
    const rules = ruleSet(RBAC_Action.DENY, policies, context, name => named(name) + UNUSABLE_SUFFIX);
    return [rbacFilter({ rules }, context.tcp)];
  }
  if (context.tcp && authorizer.kind === 'http') return [];
  const shadowRules = ruleSet(RBAC_Action.DENY, policies, context, named);
  const shadow = rbacFilter({ shadowRules, shadowRulesStatPrefix: SHADOW_PREFIX }, context.tcp);
  const matched = matchedMetadata(shadow.name, prefix);
  return [shadow, authorizerFilter(authorizer, matched, context.tcp)];
}

/** Calls the authorizer if a rule of its policies matched. */
function matchedMetadata(filter: string | undefined, prefix: string): MetadataMatcher {
  return {
    filter,
    path: [{ key: `${SHADOW_PREFIX}shadow_effective_policy_id` }],
    value: { stringMatch: { prefix } },
  };
}

function authorizerFilter(
  authorizer: Usable<'http' | 'grpc'>,
  filterEnabledMetadata: MetadataMatcher,
  tcp: boolean,
): HttpFilter & Filter {
  const common = {
    failureModeAllow: authorizer.settings.failOpen === true ? true : undefined,
    transportApiVersion: ApiVersion.V3,
    filterEnabledMetadata,
  };
  if (tcp && authorizer.kind === 'grpc') {
    const config: NetworkExtAuthz = { ...common, statPrefix: 'tcp.', grpcService: grpcService(authorizer) };
    return {
      name: 'envoy.filters.network.ext_authz',
      typedConfig: any('envoy.extensions.filters.network.ext_authz.v3.ExtAuthz', config),
    };
  }
  const { statusOnError = '', includeRequestBodyInCheck: body } = authorizer.settings;
  const config: HttpExtAuthz = {
    ...common,
    statusOnError: statusOnError === '' ? undefined : { code: Number(statusOnError) as StatusCode },
    withRequestBody:
      body === undefined
        ? undefined
        : {
            maxRequestBytes: body.maxRequestBytes,
            allowPartialMessage: body.allowPartialMessage === true ? true : undefined,
            packAsBytes: body.packAsBytes === true ? true : undefined,
          },
    ...(authorizer.kind === 'grpc'
      ? { grpcService: grpcService(authorizer) }
      : { httpService: httpService(authorizer), allowedHeaders: checkedHeaders(authorizer.settings) }),
  };
  return {
    name: 'envoy.filters.http.ext_authz',
    typedConfig: any('envoy.extensions.filters.http.ext_authz.v3.ExtAuthz', config),
  };
}

function grpcService({ cluster, hostname, settings }: Usable<'grpc'>): NetworkExtAuthz['grpcService'] {
  return {
    envoyGrpc: { clusterName: cluster, authority: hostname },
    timeout: durationOf(settings.timeout) ?? DEFAULT_TIMEOUT,
  };
}

function httpService({ cluster, hostname, settings }: Usable<'http'>): ExtAuthzHttpService {
  const added = Object.entries(settings.includeAdditionalHeadersInCheck ?? {}).sort(([a], [b]) => compareText(a, b));
  const allowedUpstreamHeaders = headerPatterns(settings.headersToUpstreamOnAllow);
  const allowedClientHeaders = headerPatterns(settings.headersToDownstreamOnDeny);
  const allowedClientHeadersOnSuccess = headerPatterns(settings.headersToDownstreamOnAllow);
  const answers = allowedUpstreamHeaders ?? allowedClientHeaders ?? allowedClientHeadersOnSuccess;
  return {
    serverUri: { uri: `http://${hostname}`, cluster, timeout: durationOf(settings.timeout) ?? DEFAULT_TIMEOUT },
    pathPrefix: settings.pathPrefix === '' ? undefined : settings.pathPrefix,
    authorizationRequest:
      added.length === 0 ? undefined : { headersToAdd: added.map(([key, value]) => ({ key, value })) },
    authorizationResponse:
      answers === undefined
        ? undefined
        : { allowedUpstreamHeaders, allowedClientHeaders, allowedClientHeadersOnSuccess },
  };
}

function checkedHeaders(settings: Usable<'http'>['settings']): ListStringMatcher | undefined {
  return headerPatterns(settings.includeRequestHeadersInCheck) ?? headerPatterns(settings.includeHeadersInCheck);
}

/** Names of headers: exact, prefix* or *suffix, without regard to case. */
function headerPatterns(names: readonly string[] = []): ListStringMatcher | undefined {
  if (names.length === 0) return undefined;
  return {
    patterns: names.map(name => {
      if (name.startsWith('*')) return { suffix: name.slice(1), ignoreCase: true };
      if (name.endsWith('*')) return { prefix: name.slice(0, -1), ignoreCase: true };
      return { exact: name, ignoreCase: true };
    }),
  };
}
