// The services whose workloads serve a Gateway: one that the control plane deploys, or those that its addresses name.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/gateway_utils.go,
// pilot/pkg/config/kube/gateway/conversion.go (extractGatewayServices).

import { kubernetesHost } from '../../model/hosts.ts';
import type { Obj } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import type { KubernetesGatewaySpec } from '../../schema/gateway-api-types.gen.ts';
import type { ClassInfo } from './classes.ts';
import { type ConfigError, configError } from './config-error.ts';

export const NAME_OVERRIDE = 'gateway.istio.io/name-override';
export const SERVICE_ACCOUNT_OVERRIDE = 'gateway.istio.io/service-account';
const SERVICE_TYPE = 'networking.istio.io/service-type';
const IP_ADDRESS = 'IPAddress';
const HOSTNAME = 'Hostname';

export interface GatewayServices {
  /** Host names, in the order of the addresses; none: nothing can serve the Gateway. */
  readonly hosts: readonly string[];
  readonly error: ConfigError | undefined;
}

/** The control plane deploys it: no address is asked for, or a single IP address. */
export function isManaged(reader: Reader, { addresses = [] }: KubernetesGatewaySpec): boolean {
  if (!reader.feature('ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT') || addresses.length === 0) return true;
  return addresses.length === 1 && isType(addresses[0]!, IP_ADDRESS);
}

/** The name of what is deployed for a Gateway, unless annotations change it. */
export function defaultName({ name, spec }: Obj<'KubernetesGateway'>, info: ClassInfo): string {
  return info.nameSuffix ? `${name}-${spec.gatewayClassName}` : name;
}

export function servicesOf(reader: Reader, gateway: Obj<'KubernetesGateway'>, info: ClassInfo): GatewayServices {
  const domain = reader.setting('domainSuffix');
  const { namespace, annotations, spec } = gateway;
  if (isManaged(reader, spec)) {
    const name = annotations[NAME_OVERRIDE] || defaultName(gateway, info);
    return { hosts: [kubernetesHost(name, namespace, domain)], error: undefined };
  }
  const addresses = spec.addresses ?? [];
  const named = addresses.filter(address => isType(address, HOSTNAME));
  const skipped = addresses.filter(address => !isType(address, HOSTNAME));
  const hosts = named.map(({ value = '' }) => (value.includes('.') ? value : kubernetesHost(value, namespace, domain)));
  return { hosts, error: addressError(skipped, annotations) };
}

function addressError(
  skipped: readonly { readonly value?: string }[],
  annotations: Readonly<Record<string, string>>,
): ConfigError | undefined {
  if (skipped.length > 0) {
    const values = skipped.map(({ value = '' }) => value).join(' ');
    return configError('UnsupportedAddress', `only Hostname is supported, ignoring [${values}]`);
  }
  if (annotations[SERVICE_TYPE] === undefined) return undefined;
  return configError(
    'DeprecatedField',
    `annotation ${SERVICE_TYPE} is deprecated, use Spec.Infrastructure.Routeability`,
  );
}

/** An empty type counts as the one that is asked for. */
function isType({ type }: { readonly type: string }, wanted: string): boolean {
  return type === '' || type === wanted;
}
