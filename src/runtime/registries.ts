// Makes the adapters of service registries, Consul and ZooKeeper, from their options. Tokens, passwords and client keys
// come from files or the environment, are read when they are used, and go to the registry only.

import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Adapter } from '../adapters/adapter.ts';
import { ConsulAdapter } from '../adapters/consul/consul-adapter.ts';
import type { Chance } from '../adapters/kit/clock.ts';
import type { ClientTls } from '../adapters/kit/http-json.ts';
import { ZooKeeperSession } from '../adapters/zookeeper/session.ts';
import { ZooKeeperAdapter, type ZooKeeperBase } from '../adapters/zookeeper/zookeeper-adapter.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { StartFault } from './start-fault.ts';

/** A secret that is given, or lies in a file that is read at each use. */
export type SecretText = { readonly text: string } | { readonly file: string };

/** PEM files of a client. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface ConsulRegistry {
  /** Of an agent or a server. */
  readonly url: string;
  /** Each is a source; none: the datacenter of the agent. */
  readonly datacenters: readonly string[];
  /** Consul Enterprise. */
  readonly consulNamespace?: string;
  readonly partition?: string;
  readonly token?: SecretText;
  readonly tls?: TlsFiles;
}

export interface ZooKeeperRegistry {
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  readonly bases: readonly ZooKeeperBase[];
  /** Follows the name of a Curator service in its host. */
  readonly domain: string;
  /** `user:password` of the scheme digest. */
  readonly auth?: SecretText;
  /** Absent: plain TCP. */
  readonly tls?: TlsFiles;
}

export interface RegistryOptions {
  /** Of the objects that services become. */
  readonly namespace: string;
  /** How long the loss of most instances is held back; 0: never. */
  readonly holdMs: number;
  readonly consul?: ConsulRegistry;
  readonly zookeeper?: ZooKeeperRegistry;
}

const RANDOM_MAX = 2 ** 47;

/** Throws a StartFault if a file of TLS cannot be read. */
export function openRegistries(options: RegistryOptions, clock: Clock, log: Log): readonly Adapter[] {
  const { namespace, holdMs, consul, zookeeper } = options;
  const chance: Chance = {
    now: () => clock.now(),
    after: clock.after,
    random: () => randomInt(RANDOM_MAX) / RANDOM_MAX,
  };
  const found: Adapter[] = [];
  if (consul !== undefined) {
    const { url, datacenters, token, tls, consulNamespace, partition } = consul;
    const shared = { url, namespace, holdMs, chance, log, consulNamespace, partition };
    const secrets = { token: secretFrom(token), tls: tlsFrom('Consul', tls) };
    for (const datacenter of datacenters.length === 0 ? [undefined] : datacenters) {
      found.push(new ConsulAdapter({ ...shared, ...secrets, datacenter }));
    }
    log('info', `Consul at ${new URL(url).host}`);
  }
  if (zookeeper !== undefined) {
    const { servers, bases, domain, auth, tls } = zookeeper;
    const secrets = { auth: secretFrom(auth), tls: tlsFrom('ZooKeeper', tls) };
    const session = new ZooKeeperSession({ servers, ...secrets, chance, log });
    found.push(new ZooKeeperAdapter({ name: 'main', session, bases, namespace, domain, holdMs, chance, log }));
  }
  return found;
}

function secretFrom(secret: SecretText | undefined): (() => Promise<string>) | undefined {
  if (secret === undefined) return undefined;
  return async () => ('text' in secret ? secret.text : (await readFile(secret.file, 'utf8')).trim());
}

function tlsFrom(registry: string, files: TlsFiles | undefined): ClientTls | undefined {
  if (files === undefined) return undefined;
  const text = (path: string | undefined): string | undefined => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new StartFault(`${registry}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  };
  return { ca: text(files.ca), cert: text(files.cert), key: text(files.key), serverName: files.serverName };
}
