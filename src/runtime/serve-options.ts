// The options of `periplus serve`: istiod's flags with istiod's defaults (pilot/cmd/pilot-discovery/app/cmd.go), and
// our own for the journal.

import { featureDefaults } from '../core/mesh/features.ts';
import { defaultSettings, type Settings } from '../core/mesh/settings.ts';
import type { Durability } from '../journal/journal.ts';
import type { AdapterOptions } from './adapters.ts';
import type { IdentityOptions } from './identity-options.ts';
import type { ReplicaSettings } from './replica-settings.ts';

export interface Address {
  /** Empty: all interfaces. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface ServeOptions extends AdapterOptions {
  /** ConfigMap of the system namespace whose mesh configuration has the lowest precedence (SHARED_MESH_CONFIG). */
  readonly sharedMeshConfig?: string;
  readonly grpcAddr: Address;
  /** Undefined: no secure port and no certificate authority. */
  readonly identity?: IdentityOptions;
  /** Webhooks over TLS; undefined: none. Needs `identity`, whose serving certificate it uses. */
  readonly httpsAddr?: Address;
  /** False: the webhook of injection is not served. */
  readonly injects?: boolean;
  /** Folder that the injector's configuration may be mounted in; default: INJECT_FOLDER. */
  readonly injectFolder?: string;
  readonly httpAddr: Address;
  readonly monitoringAddr: Address;
  /** Whether the HTTP ports have the explorer; undefined: they have. */
  readonly ui?: boolean;
  /** False: neither debug pages nor the explorer (ENABLE_DEBUG_ON_HTTP). */
  readonly debugPages?: boolean;
  /** True: a debug page ends streams of proxies (UNSAFE_ENABLE_ADMIN_ENDPOINTS). */
  readonly adminEndpoints?: boolean;
  /** True: `/metrics` answers this machine alone (METRICS_LOCALHOST_ACCESS_ONLY). */
  readonly metricsHereOnly?: boolean;
  /** The file; of a replica, its mirror of the world log. */
  readonly journal: string;
  /** Undefined: this process shares no log with others. */
  readonly replica?: ReplicaSettings;
  readonly journalKey?: string;
  readonly journalDurability: Durability;
  readonly journalStrict: boolean;
  /** Folder on another disk for what could not be recorded when the process has to stop. */
  readonly journalSpill?: string;
  /** Older events are forgotten; milliseconds. Undefined: unlimited. */
  readonly journalKeepMs?: number;
  readonly shutdownMs: number;
  /** Idle milliseconds before a client is pinged, and the time it has to answer; undefined: from the environment. */
  readonly keepaliveMs?: number;
  readonly keepaliveTimeoutMs?: number;
  /** Milliseconds; undefined: unlimited. */
  readonly maxConnectionAgeMs?: number;
}

/** `:15010`, `127.0.0.1:15010`, `[::1]:15010`; undefined if it is none of these. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):([0-9]{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65_535) return undefined;
  return { host: match[1] ?? match[2] ?? '', port: Number(match[3]) };
}

export function showAddress(address: Address): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** The settings to record: flags, and the known feature flags of the environment. */
export function settingsFrom(
  flags: Pick<Settings, 'domainSuffix' | 'clusterId' | 'systemNamespace'> & Partial<Pick<Settings, 'clusterAliases'>>,
  environment: Readonly<Record<string, string | undefined>>,
): Settings {
  const env: Record<string, string> = {};
  for (const name of Object.keys(featureDefaults).sort()) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...defaultSettings, ...flags, revision: environment.REVISION ?? '', env };
}

/** `alias=cluster,alias=cluster`, as istiod's --clusterAliases; undefined if it is not of that form. */
export function parseClusterAliases(text: string): Settings['clusterAliases'] | undefined {
  const aliases: Record<string, string> = {};
  for (const pair of text.split(',').filter(part => part !== '')) {
    const [alias, cluster, ...more] = pair.split('=');
    if (!alias || !cluster || more.length > 0) return undefined;
    aliases[alias] = cluster;
  }
  return aliases;
}
