// Dubbo's interface registry: below `<base>/<interface>/providers` one node a provider, whose name is its URL, encoded.
// One interface of several groups or versions is several services. Hosts are named as Aeraki's dubbo2istio names them:
// `<interface>-<group>-<version>` in lower case. Pure.

import type { RegistryInstance, RegistryService } from '../kit/registry-service.ts';

/** Nodes below the base that are no interfaces. */
export const NO_INTERFACES: readonly string[] = ['config', 'mapping', 'metadata'];
const PORT_NAME = 'tcp-dubbo';
/** Parameters that stay where they are: `token` is what Dubbo's consumers are known by. */
const SECRET = /token|password|secret|username/i;

interface Provider {
  readonly node: string;
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The services of one interface by the nodes of its providers, and the nodes that are none. */
export function dubboServices(
  name: string,
  nodes: readonly string[],
): { readonly services: readonly RegistryService[]; readonly strange: readonly string[] } {
  const providers = new Map<string, Provider[]>();
  const strange: string[] = [];
  for (const node of [...nodes].sort()) {
    const provider = providerOf(node);
    if (provider === undefined) strange.push(node);
    else {
      const service = [name, parameter(provider, 'group'), parameter(provider, 'version')].filter(part => part !== '');
      const key = service.join('-');
      providers.set(key, [...(providers.get(key) ?? []), provider]);
    }
  }
  return { services: [...providers].map(([key, of]) => serviceOf(key, of)), strange };
}

function serviceOf(name: string, providers: readonly Provider[]): RegistryService {
  const serving = providers.filter(
    provider => parameter(provider, 'disabled') !== 'true' && parameter(provider, 'enabled') !== 'false',
  );
  return {
    name,
    host: name.replace(/-(\d[\d.]*)$/, (_, version: string) => `-${version.replaceAll('.', '-')}`).toLowerCase(),
    ports: [{ name: PORT_NAME, number: Math.min(...providers.map(({ port }) => port)), protocol: 'TCP' }],
    instances: serving.map(instanceOf),
  };
}

function instanceOf(provider: Provider): RegistryInstance {
  const { host, port, parameters } = provider;
  const weight = Number(parameter(provider, 'weight') || '100');
  const locality = parameter(provider, 'aeraki_meta_locality');
  const serviceAccount = parameter(provider, 'aeraki_meta_app_service_account');
  const version = parameter(provider, 'aeraki_meta_app_version');
  return {
    id: `${provider.protocol}://${host}:${port}`,
    address: host,
    ports: { [PORT_NAME]: port },
    labels: {
      ...Object.fromEntries([...parameters].filter(([key]) => !SECRET.test(key))),
      ...(version === '' ? {} : { version }),
    },
    ...(Number.isInteger(weight) && weight >= 0 ? { weight } : {}),
    ...(locality === '' ? {} : { locality }),
    ...(serviceAccount === '' ? {} : { serviceAccount }),
  };
}

/** Undefined: the name is no URL of a provider. */
function providerOf(node: string): Provider | undefined {
  let text: string;
  try {
    text = decodeURIComponent(node);
  } catch {
    return undefined;
  }
  const match = /^([a-z][a-z0-9+.-]*):\/\/(?:[^@/]*@)?(\[[^\]]+\]|[^:/?]+):(\d+)(?:\/[^?]*)?(?:\?(.*))?$/i.exec(text);
  const [, protocol = '', host = '', port = '', query = ''] = match ?? [];
  if (match === null || Number(port) < 1 || Number(port) > 65_535) return undefined;
  const parameters = new Map(new URLSearchParams(query));
  return { node, protocol, host: host.replace(/^\[|\]$/g, ''), port: Number(port), parameters };
}

function parameter({ parameters }: Provider, name: string): string {
  return parameters.get(name) ?? '';
}
