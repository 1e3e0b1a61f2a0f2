// Flags of service registries beside Kubernetes. istiod had `--registries` and `--consulserverURL` until 1.7; where a
// registry has environment variables of its own (Consul), those are read, so that secrets need no flag.

import type { Command } from 'commander';
import type { ZooKeeperBase } from '../adapters/zookeeper/zookeeper-adapter.ts';
import { durationMs } from '../core/mesh/features.ts';
import type {
  ConsulRegistry,
  RegistryOptions,
  SecretText,
  TlsFiles,
  ZooKeeperRegistry,
} from '../runtime/registries.ts';
import { parseAddress } from '../runtime/serve-options.ts';
import { CliError, EXIT } from './output.ts';

export interface RegistryFlags {
  readonly consulserverURL?: string;
  readonly consulDatacenters: string;
  readonly zookeeperAddr: string;
  readonly zookeeperPaths: string;
  readonly zookeeperDomain: string;
  readonly registryNamespace: string;
  readonly registryHold: string;
}

/** What `--registries` may name. */
export const REGISTRIES = ['Kubernetes', 'Consul', 'ZooKeeper'] as const;
export type RegistryName = (typeof REGISTRIES)[number];

type Environment = Readonly<Record<string, string | undefined>>;

export function addRegistryFlags(command: Command): Command {
  return command
    .option('--consulserverURL <url>', 'Consul agent or server (default: CONSUL_HTTP_ADDR, else 127.0.0.1:8500)')
    .option('--consulDatacenters <list>', 'datacenters to read, each a source (default: that of the agent)', '')
    .option('--zookeeperAddr <list>', 'servers of the ZooKeeper ensemble, HOST:PORT,…', '127.0.0.1:2181')
    .option('--zookeeperPaths <list>', 'where services are, LAYOUT:PATH,…; layouts: dubbo, curator', 'dubbo:/dubbo')
    .option('--zookeeperDomain <domain>', 'follows the name of a Curator service in its host', 'service.zookeeper')
    .option('--registryNamespace <ns>', 'namespace of what services of Consul and ZooKeeper become', 'default')
    .option('--registryHold <time>', 'hold back the loss of most instances of a registry; 0s: never', '60s');
}

/** The registries of a list; throws for a name that is none. */
export function registriesIn(list: string): ReadonlySet<RegistryName> {
  const names = list.split(',').filter(name => name !== '');
  const isKnown = (name: string): name is RegistryName => (REGISTRIES as readonly string[]).includes(name);
  if (!names.every(isKnown)) {
    throw new CliError(`--registries ${list}: expected some of ${REGISTRIES.join(', ')}, or nothing`, EXIT.misuse);
  }
  return new Set(names.filter(isKnown));
}

/** Undefined: neither Consul nor ZooKeeper is asked for. */
export function registryOptionsOf(
  flags: RegistryFlags,
  registries: ReadonlySet<RegistryName>,
  env: Environment,
): RegistryOptions | undefined {
  if (!registries.has('Consul') && !registries.has('ZooKeeper')) return undefined;
  const holdMs = durationMs(flags.registryHold);
  if (holdMs === undefined) {
    throw new CliError(`--registryHold ${flags.registryHold}: expected a duration such as 60s`, EXIT.misuse);
  }
  return {
    namespace: flags.registryNamespace,
    holdMs,
    ...(registries.has('Consul') ? { consul: consulOf(flags, env) } : {}),
    ...(registries.has('ZooKeeper') ? { zookeeper: zookeeperOf(flags, env) } : {}),
  };
}

function consulOf(flags: RegistryFlags, env: Environment): ConsulRegistry {
  const given = flags.consulserverURL ?? env.CONSUL_HTTP_ADDR ?? '127.0.0.1:8500';
  const scheme = env.CONSUL_HTTP_SSL === 'true' ? 'https' : 'http';
  const url = given.includes('://') ? given : `${scheme}://${given}`;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new CliError(`--consulserverURL ${given}: expected http(s)://HOST:PORT`, EXIT.misuse);
  }
  const { username, password, origin } = new URL(url);
  if (username !== '' || password !== '') {
    throw new CliError('--consulserverURL: a token belongs in CONSUL_HTTP_TOKEN_FILE, not in the URL', EXIT.misuse);
  }
  return {
    url: origin,
    datacenters: listed(flags.consulDatacenters),
    consulNamespace: env.CONSUL_NAMESPACE,
    partition: env.CONSUL_PARTITION,
    token: secret(env.CONSUL_HTTP_TOKEN, env.CONSUL_HTTP_TOKEN_FILE),
    tls: tlsOf(env.CONSUL_CACERT, env.CONSUL_CLIENT_CERT, env.CONSUL_CLIENT_KEY, env.CONSUL_TLS_SERVER_NAME),
  };
}

function zookeeperOf(flags: RegistryFlags, env: Environment): ZooKeeperRegistry {
  const servers = listed(flags.zookeeperAddr).map(address => {
    const parsed = parseAddress(address);
    if (parsed === undefined || parsed.host === '') {
      throw new CliError(`--zookeeperAddr ${flags.zookeeperAddr}: expected HOST:PORT,…`, EXIT.misuse);
    }
    return parsed;
  });
  if (servers.length === 0) throw new CliError('--zookeeperAddr is empty: expected HOST:PORT,…', EXIT.misuse);
  return {
    servers,
    bases: listed(flags.zookeeperPaths).map(text => baseOf(text)),
    domain: flags.zookeeperDomain,
    auth: secret(env.ZOOKEEPER_AUTH, env.ZOOKEEPER_AUTH_FILE),
    tls: tlsOf(
      env.ZOOKEEPER_CACERT,
      env.ZOOKEEPER_CLIENT_CERT,
      env.ZOOKEEPER_CLIENT_KEY,
      env.ZOOKEEPER_TLS_SERVER_NAME,
    ),
  };
}

function baseOf(text: string): ZooKeeperBase {
  const match = /^(dubbo|curator):(\/[^/]+(?:\/[^/]+)*)$/.exec(text);
  if (match === null) {
    throw new CliError(`--zookeeperPaths ${text}: expected LAYOUT:PATH, e.g. dubbo:/dubbo`, EXIT.misuse);
  }
  return { layout: match[1] as ZooKeeperBase['layout'], path: match[2] ?? '' };
}

function listed(list: string): readonly string[] {
  return list.split(',').filter(part => part !== '');
}

function secret(text: string | undefined, file: string | undefined): SecretText | undefined {
  if (file) return { file };
  return text ? { text } : undefined;
}

function tlsOf(ca?: string, cert?: string, key?: string, serverName?: string): TlsFiles | undefined {
  return ca || cert || key || serverName ? { ca, cert, key, serverName } : undefined;
}
