// The external authorizer that a provider of MeshConfig stands for: its address and protocol, or the reason why it is
// unusable.
//
// A provider that cannot be used closes: the rules that name it refuse what they match. MeshConfig does not check all
// of this, so a provider with a dot in its name is accepted there and refuses here.
// Source: Istio pilot/pkg/security/authz/builder/extauthz.go (processExtensionProvider, buildExtAuthzHTTP,
// buildExtAuthzGRPC), pkg/config/validation/agent (validateExtensionProviderService).

import { isEnvoyStatus } from '../../base/http-status.ts';
import { isIp } from '../../base/ip.ts';
import { checkNamespacedHost, fqdnProblem } from '../../kinds/istio/validate/hosts.ts';
import { providerOf } from '../../mesh/providers.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { parseUrl } from '../../schema/go-url.ts';
import type {
  AuthorizationPolicy,
  MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationGrpcProvider as GrpcProvider,
  MeshConfig_ExtensionProvider_EnvoyExternalAuthorizationHttpProvider as HttpProvider,
} from '../../schema/istio-types.gen.ts';
import { providerCluster } from '../telemetry/provider-cluster.ts';

export type ExternalAuthorizer =
  | { readonly kind: 'http'; readonly cluster: string; readonly hostname: string; readonly settings: HttpProvider }
  | { readonly kind: 'grpc'; readonly cluster: string; readonly hostname: string; readonly settings: GrpcProvider }
  | { readonly kind: 'unusable'; readonly reason: string };

const NAME_LENGTH_MAX = 63;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PORT_MAX = 65_535;

/** Argument: the provider's name, as the policy writes it. */
export const externalAuthorizer: Query<string, ExternalAuthorizer> = {
  name: 'select/externalAuthorizer',
  run: (reader, name) => {
    if (name.length > NAME_LENGTH_MAX || !NAME.test(name)) {
      return unusable(`the provider's name "${name}" is not a label of DNS`);
    }
    const provider = providerOf(reader.mesh('extensionProviders'), name);
    if (provider?.envoyExtAuthzHttp !== undefined) return httpAuthorizer(reader, provider.envoyExtAuthzHttp);
    if (provider?.envoyExtAuthzGrpc !== undefined) return grpcAuthorizer(reader, provider.envoyExtAuthzGrpc);
    return unusable(`MeshConfig has no external authorizer called "${name}"`);
  },
};

/** The provider that a CUSTOM policy names; no such policy is in force without. */
export function providerNamed({ provider }: AuthorizationPolicy): string {
  return provider?.name ?? '';
}

function httpAuthorizer(reader: Reader, settings: HttpProvider): ExternalAuthorizer {
  const { pathPrefix = '' } = settings;
  if (pathPrefix !== '' && !pathPrefix.startsWith('/')) return unusable('pathPrefix does not begin with a slash');
  if (parseUrl(pathPrefix) === undefined) return unusable(`pathPrefix "${pathPrefix}" is no path of a URL`);
  const lists = [
    settings.includeRequestHeadersInCheck,
    settings.includeHeadersInCheck,
    settings.headersToUpstreamOnAllow,
    settings.headersToDownstreamOnDeny,
    settings.headersToDownstreamOnAllow,
  ];
  if (lists.some(list => list?.includes('*'))) return unusable('a header is given as "*"');
  const place = placeOf(reader, settings);
  return 'reason' in place ? place : { kind: 'http', ...place, settings };
}

function grpcAuthorizer(reader: Reader, settings: GrpcProvider): ExternalAuthorizer {
  const place = placeOf(reader, settings);
  return 'reason' in place ? place : { kind: 'grpc', ...place, settings };
}

interface Unusable {
  readonly kind: 'unusable';
  readonly reason: string;
}

function placeOf(
  reader: Reader,
  { service = '', port = 0, statusOnError = '', includeRequestBodyInCheck: body }: HttpProvider | GrpcProvider,
): { readonly cluster: string; readonly hostname: string } | Unusable {
  if (body !== undefined && (body.maxRequestBytes ?? 0) <= 0) {
    return unusable('includeRequestBodyInCheck.maxRequestBytes is not above 0, and Envoy refuses that');
  }
  if (port < 1 || port > PORT_MAX) return unusable(`port ${port} is none`);
  if (statusOnError !== '' && !isEnvoyStatus(statusOnError)) {
    return unusable(`statusOnError "${statusOnError}" is no status that Envoy knows`);
  }
  if (!isServiceName(service)) return unusable(`its service "${service}" is neither a host nor namespace/host`);
  const found = providerCluster(reader, service, port);
  return found ?? unusable(`its service "${service}" is not known, or known in several namespaces`);
}

/** A host without wildcards, or one with a dot behind its namespace. */
function isServiceName(service: string): boolean {
  if (!service.includes('/')) return isIp(service) || fqdnProblem(service) === undefined;
  let sound = true;
  checkNamespacedHost(service, 'Sidecar', '', () => {
    sound = false;
  });
  return sound;
}

function unusable(reason: string): Unusable {
  return { kind: 'unusable', reason };
}
