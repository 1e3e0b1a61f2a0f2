// Makes the adapters of a process from its options: always files (mesh configuration may be in one) and DNS, and a
// Kubernetes API server if configured.

import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { Adapter, Sink } from '../adapters/adapter.ts';
import { DnsAdapter } from '../adapters/dns/dns-adapter.ts';
import { dnsResolver, type Resolve } from '../adapters/dns/resolver.ts';
import { FileAdapter } from '../adapters/file/file-adapter.ts';
import { rangesOf } from '../adapters/jwks/blocked-addresses.ts';
import { type Fetch, httpFetch } from '../adapters/jwks/fetch.ts';
import { JwksAdapter } from '../adapters/jwks/jwks-adapter.ts';
import type { Chance } from '../adapters/kit/clock.ts';
import { ignoredDefinitions } from '../adapters/kube/custom-resources.ts';
import { connectKube } from '../adapters/kube/kube-adapter.ts';
import type { Resource } from '../adapters/kube/resource.ts';
import type { ClusterConfigStore } from '../adapters/kube/write/cluster-config-store.ts';
import { ClusterStore } from '../adapters/kube/write/cluster-store.ts';
import { ClusterWriter } from '../adapters/kube/write/cluster-writer.ts';
import { LiveObjects } from '../adapters/kube/write/live-objects.ts';
import { kubeconfigFiles } from '../adapters/kubeconfigs/kubeconfig-files.ts';
import { allWishes, allWishFeatures } from '../admission/wishes/table.ts';
import { featureOf } from '../core/mesh/features.ts';
import type { Settings } from '../core/mesh/settings.ts';
import type { KindName } from '../core/model/kind.ts';
import { isPrefixOf } from '../core/registry/address-pool.ts';
import { prefixFlags } from '../core/registry/allocated-addresses.ts';
import type { Clock } from './clock.ts';
import { openConfigSources } from './config-sources.ts';
import type { Log } from './log.ts';
import { openRegistries, type RegistryOptions } from './registries.ts';
import { StartFault } from './start-fault.ts';

export interface KubeOptions {
  /** Empty: the service account of the pod. */
  readonly kubeconfig?: string;
  /** Of the kubeconfig; empty: its current one. */
  readonly context?: string;
  /** Requests per second, and burst after a pause. */
  readonly qps: number;
  readonly burst: number;
}

export interface WriteOptions {
  /** The name of this process in elections. */
  readonly identity: string;
  readonly isElectionEnabled: boolean;
}

export interface AdapterOptions {
  readonly configDir?: string;
  readonly meshConfig?: string;
  readonly networksConfig?: string;
  /** An empty configDir, or folder of kubeconfigs, deletes what the journal has from there. */
  readonly allowEmpty?: boolean;
  readonly kube?: KubeOptions;
  /** Service registries beside Kubernetes. */
  readonly registries?: RegistryOptions;
  /** Undefined: the API server is sent get, list and watch only. */
  readonly writes?: WriteOptions;
  /** Is given the store of the cluster, if it may be written to. */
  readonly onCluster?: (store: ClusterConfigStore) => void;
  /** After each write to the cluster; `reason`: the server's word for why it was refused, or none. */
  readonly onWrite?: (kind: string, name: string, reason: string | undefined) => void;
  /** Further sources, of an embedding program. */
  readonly adapters?: readonly Adapter[];
  /** Resolves host names; default: the servers of resolv.conf. */
  readonly resolve?: Resolve;
  /** Fetches key sets of token issuers; default: over HTTP. */
  readonly fetchJwks?: Fetch;
  readonly onJwksFetched?: (succeeded: boolean) => void;
  readonly settings: Settings;
}

const RANDOM_MAX = 2 ** 47;

/** Rejects with a StartFault if the kubeconfig, or a prefix of allocated addresses, cannot be used. */
export async function openAdapters(
  options: AdapterOptions,
  clock: Clock,
  log: Log,
  version: string,
): Promise<readonly Adapter[]> {
  const {
    configDir,
    meshConfig,
    networksConfig,
    allowEmpty,
    settings,
    kube,
    adapters: further = [],
    resolve = dnsResolver(),
  } = options;
  checkPrefixes(settings);
  const cluster = settings.clusterId;
  const registries = options.registries === undefined ? [] : openRegistries(options.registries, clock, log);
  const planes = openConfigSources(meshConfig, settings, clock, log);
  const adapters = [...registries, ...planes, ...further, ...openKubeconfigs(options, clock, log)];
  const files = new FileAdapter({
    configDir,
    meshConfig,
    networksConfig,
    allowEmpty,
    cluster,
    now: () => clock.now(),
    log,
  });
  const names = new DnsAdapter({ cluster, resolve, after: clock.after, now: () => clock.now(), log });
  const keySets = openKeySets(options, clock, log);
  if (kube === undefined) return [files, ...adapters, names, keySets];
  const { kubeconfig, context, qps, burst } = kube;
  const chance = chanceOf(clock);
  const userAgent = `periplus/${version}`;
  const live =
    options.writes === undefined
      ? undefined
      : new LiveObjects(
          allWishFeatures.flatMap(({ observes }) => observes),
          settings,
        );
  const limit = { qps, burst };
  const ignores = ignoredOf(settings);
  const connecting = connectKube({ cluster, kubeconfig, context, chance, log, limit, userAgent, live, ignores });
  const connected = await connecting.catch((error: unknown) => {
    const what = kubeconfig ? `--kubeconfig ${kubeconfig}` : 'the service account of this pod';
    throw new StartFault(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { adapter, credentials } = connected;
  log('info', `Kubernetes at ${credentials.shown}`);
  const stop = async (): Promise<void> => {
    await adapter.stop();
    credentials.close();
  };
  const server = {
    source: adapter.source,
    start: (sink: Sink) => adapter.start(sink),
    status: () => adapter.status(),
    stop,
  };
  if (live === undefined || options.writes === undefined) return [files, server, ...adapters, names, keySets];
  const resource = (kind: KindName): Resource | undefined => adapter.resource(kind);
  options.onCluster?.(new ClusterStore({ cluster, api: connected.connection(), resource }));
  const writer = new ClusterWriter({
    cluster,
    live,
    writes: connected.connection(),
    locks: connected.connection(),
    chance,
    log,
    namespace: settings.systemNamespace,
    revision: settings.revision,
    table: allWishes,
    onWrite: ({ kind, name }, failure) =>
      options.onWrite?.(kind, name, failure && (failure.reason ?? String(failure.status))),
    ...options.writes,
  });
  return [files, server, ...adapters, names, keySets, writer];
}

/** Definitions of custom resources that the settings keep from being looked at. */
export function ignoredOf(settings: Settings): (name: string) => boolean {
  return ignoredDefinitions(
    featureOf(settings, 'PILOT_IGNORE_RESOURCES'),
    featureOf(settings, 'PILOT_INCLUDE_RESOURCES'),
  );
}

function checkPrefixes(settings: Settings): void {
  for (const [flag, family] of Object.entries(prefixFlags)) {
    const prefix = featureOf(settings, flag as keyof typeof prefixFlags);
    if (isPrefixOf(family, prefix)) continue;
    throw new StartFault(`${flag}: "${prefix}" is not a prefix of IPv${family} addresses`);
  }
}

/** Kubeconfigs of remote clusters in files. */
function openKubeconfigs({ settings, allowEmpty }: AdapterOptions, clock: Clock, log: Log): readonly Adapter[] {
  const folder = featureOf(settings, 'PILOT_MULTICLUSTER_KUBECONFIG_PATH');
  if (folder === '') return [];
  const { clusterId: cluster, systemNamespace } = settings;
  return [kubeconfigFiles({ folder, cluster, systemNamespace, allowEmpty, chance: chanceOf(clock), log })];
}

export function chanceOf(clock: Clock): Chance {
  return { now: () => clock.now(), after: clock.after, random: () => randomInt(RANDOM_MAX) / RANDOM_MAX };
}

/** The chart of Istio mounts the ConfigMap `pilot-jwks-extra-cacerts` here. */
const EXTRA_ROOTS = '/cacerts/extra.pem';

function openKeySets({ settings, fetchJwks, onJwksFetched }: AdapterOptions, clock: Clock, log: Log): JwksAdapter {
  const blocked = featureOf(settings, 'BLOCKED_CIDRS_IN_JWKS_URIS');
  const { ranges, bad } = rangesOf(blocked);
  if (bad.length > 0) log('warn', `BLOCKED_CIDRS_IN_JWKS_URIS: not an address range: ${bad.join(', ')}`);
  const fetch = httpFetch({
    addresses: { blocked: ranges, allowLocal: featureOf(settings, 'JWKS_RESOLVER_ALLOW_LOCAL_ADDRESSES') },
    insecure: featureOf(settings, 'JWKS_RESOLVER_INSECURE_SKIP_VERIFY'),
    roots: existsSync(EXTRA_ROOTS) ? [...rootCertificates, readFileSync(EXTRA_ROOTS, 'utf8')] : undefined,
  });
  return new JwksAdapter({
    cluster: settings.clusterId,
    fetch: fetchJwks ?? fetch,
    now: () => clock.now(),
    after: clock.after,
    refreshMs: featureOf(settings, 'PILOT_JWT_PUB_KEY_REFRESH_INTERVAL'),
    onFetched: onJwksFetched,
    log,
  });
}
