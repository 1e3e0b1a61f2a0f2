// Flags that `serve` and `record` share: where configuration comes from, the journal, and the log. istiod's names and
// defaults where it has them.

import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { MULTICLUSTER_LABEL } from '../core/clusters/remote-clusters.ts';
import { environmentProblems } from '../core/mesh/environment.ts';
import { durationMs } from '../core/mesh/features.ts';
import { nearestText } from '../history/nearest.ts';
import type { Durability } from '../journal/journal.ts';
import { isNatsAddress } from '../replicas/nats/address.ts';
import type { AdapterOptions, KubeOptions } from '../runtime/adapters.ts';
import { systemClock } from '../runtime/clock.ts';
import { type AdjustableLog, isLogLevel, isLogScope, type LogLevel, type LogScope, makeLog } from '../runtime/log.ts';
import type { JournalOptions } from '../runtime/open-world.ts';
import { parseClusterAliases, settingsFrom } from '../runtime/serve-options.ts';
import { keptTime } from './journal-compact.ts';
import { CliError, EXIT, tellLog } from './output.ts';
import { addRegistryFlags, REGISTRIES, type RegistryFlags, registriesIn, registryOptionsOf } from './registry-flags.ts';
import { DEFAULT_JOURNAL } from './target.ts';

export interface SourceFlags extends RegistryFlags {
  readonly configDir?: string;
  readonly allowEmptySource: boolean;
  readonly meshConfig: string;
  readonly networksConfig: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly registries?: string;
  readonly kubernetesApiQPS: string;
  readonly kubernetesApiBurst: string;
  readonly domain: string;
  readonly clusterID: string;
  readonly clusterAliases: string;
  readonly namespace: string;
  readonly cniNamespace?: string;
  readonly journal: string;
  readonly journalKey?: string;
  readonly journalDurability: string;
  readonly journalStrict: boolean;
  readonly journalSpill?: string;
  readonly journalKeep?: string;
  readonly log_output_level: string;
  readonly log_as_json: boolean;
  readonly ignoreUnknownFlags: boolean;
}

export function addSourceFlags(command: Command): Command {
  return addRegistryFlags(command)
    .option('--configDir <dir>', 'folder of YAML files: Istio and Kubernetes objects, watched')
    .option('--allow-empty-source', 'delete what the journal has from --configDir if it is empty at the start', false)
    .option('--meshConfig <file>', 'MeshConfig, watched; need not exist', './etc/istio/config/mesh')
    .option('--networksConfig <file>', 'MeshNetworks, watched; need not exist', './etc/istio/config/meshNetworks')
    .option('--kubeconfig <file>', 'watch the Kubernetes API server of this file (default: that of the pod, if in one)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option(
      '--registries <list>',
      `where services come from besides files: some of ${REGISTRIES.join(', ')}, or nothing (default: Kubernetes with --kubeconfig, or in a pod without --configDir)`,
    )
    .option('--kubernetesApiQPS <n>', 'requests a second to the API server', '80')
    .option('--kubernetesApiBurst <n>', 'requests to the API server at once, after a pause', '160')
    .option('--domain <suffix>', 'DNS domain suffix of the mesh', 'cluster.local')
    .option(
      '--clusterID <id>',
      'id of the cluster that the configuration belongs to',
      process.env.CLUSTER_ID || 'Kubernetes',
    )
    .option(
      '--clusterAliases <pairs>',
      'other names of clusters, alias=cluster,…: proxies may say them as their CLUSTER_ID',
      '',
    )
    .option('-n, --namespace <ns>', 'namespace of the control plane', process.env.POD_NAMESPACE ?? 'istio-system')
    .option('--cniNamespace <ns>', "namespace of Istio's CNI plugin (default: --namespace)")
    .option(
      '-j, --journal <file>',
      'journal of everything that happens, made if it does not exist; nats://HOST:PORT,…/MESH: a log shared by replicas',
      DEFAULT_JOURNAL,
    )
    .option('--journalKey <file>', 'key that seals secrets in the journal (default: <journal>.key, made at first use)')
    .option('--journalDurability <setting>', 'what survives a power cut: full, normal or off', 'full')
    .option('--journal-keep <time>', 'forget events that are older, e.g. 12h, 30d; default: none')
    .option('--journal-spill <dir>', 'at the end, write what cannot be recorded there; the next start records it')
    .option('--journal-strict', 'stop applying changes while the journal cannot be written', false)
    .option('--log_output_level <level>', 'debug, info, warn, error or none; scope:level,… for one scope', 'info')
    .option('--log_as_json', 'log lines as JSON', false)
    .option('--ignore-unknown-flags', 'pass over flags that neither Periplus nor istiod knows', false)
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      "\nFlags of istiod that Periplus does not have are ignored. Feature flags are istiod's environment variables.",
    );
}

/**
 * Before a journal is made: without a folder it would record that alone. With a journal that is
 * there, what it has from the folder serves until the folder is back.
 */
export function requireFolder({ configDir, journal }: Pick<SourceFlags, 'configDir' | 'journal'>): void {
  if (configDir === undefined || existsSync(journal)) return;
  if (statSync(configDir, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new CliError(`--configDir ${configDir}: there is no such folder, and no journal ${journal} of it`);
}

export type SourceOptions = AdapterOptions & JournalOptions & { readonly sharedMeshConfig?: string };

export function sourceOptionsOf(flags: SourceFlags): SourceOptions {
  const { domain, clusterID, namespace, journalDurability } = flags;
  if (!isDurability(journalDurability)) {
    throw new CliError(`--journalDurability ${journalDurability}: expected full, normal or off`, EXIT.misuse);
  }
  const clusterAliases = parseClusterAliases(flags.clusterAliases);
  if (clusterAliases === undefined) {
    throw new CliError(`--clusterAliases ${flags.clusterAliases}: expected alias=cluster,alias=cluster`, EXIT.misuse);
  }
  if (isNatsAddress(flags.journal)) {
    throw new CliError(
      `--journal ${flags.journal}: expected a file; only serve is one of several replicas`,
      EXIT.misuse,
    );
  }
  return {
    configDir: flags.configDir,
    allowEmpty: flags.allowEmptySource,
    meshConfig: flags.meshConfig,
    networksConfig: flags.networksConfig,
    kube: kubeOptionsOf(flags),
    registries: registryOptionsOf(flags, registriesIn(flags.registries ?? ''), process.env),
    sharedMeshConfig: process.env.SHARED_MESH_CONFIG || undefined,
    settings: settingsFrom(
      { domainSuffix: domain, clusterId: clusterID, systemNamespace: namespace, clusterAliases },
      flags.cniNamespace === undefined ? process.env : { ...process.env, PERIPLUS_CNI_NAMESPACE: flags.cniNamespace },
    ),
    journal: flags.journal,
    journalKey: flags.journalKey,
    journalDurability,
    journalStrict: flags.journalStrict,
    journalSpill: flags.journalSpill,
    journalKeepMs: keptTime('--journal-keep', flags.journalKeep),
  };
}

/** Undefined: files only. */
function kubeOptionsOf(flags: SourceFlags): KubeOptions | undefined {
  const { kubeconfig = '', context, configDir, registries } = flags;
  const inPod = (process.env.KUBERNETES_SERVICE_HOST ?? '') !== '';
  const wanted =
    registries === undefined
      ? kubeconfig !== '' || (inPod && configDir === undefined)
      : registriesIn(registries).has('Kubernetes');
  if (!wanted) return undefined;
  if (kubeconfig === '' && !inPod) {
    throw new CliError(`--registries Kubernetes: this is not a pod; which --kubeconfig?`, EXIT.misuse);
  }
  const qps = positive('--kubernetesApiQPS', flags.kubernetesApiQPS);
  return { kubeconfig, context, qps, burst: positive('--kubernetesApiBurst', flags.kubernetesApiBurst) };
}

/**
 * Flags of istiod's discovery command that Periplus has no use for: manifests written for istiod keep working. Source:
 * Istio pilot/cmd/pilot-discovery/app/cmd.go, pkg/ctrlz, pkg/log.
 */
const OF_ISTIOD: ReadonlySet<string> = new Set([
  '--caCertFile',
  '--clusterRegistriesNamespace',
  '--ctrlz_address',
  '--ctrlz_port',
  '--httpsAddr',
  '--log_caller',
  '--log_rotate',
  '--log_rotate_max_age',
  '--log_rotate_max_backups',
  '--log_rotate_max_size',
  '--log_stacktrace_level',
  '--log_target',
  '--mcpInitialConnWindowSize',
  '--mcpInitialWindowSize',
  '--mcpMaxMsgSize',
  '--plugins',
  '--profile',
  '--resync',
  '--tls-cipher-suites',
  '--tls-min-version',
  '--tlsCertFile',
  '--tlsKeyFile',
  '--vklog',
]);

/** Flags of old releases whose absence would be missed silently, and what took their place. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  [
    '--clusterRegistriesConfigMap',
    `a ConfigMap that lists clusters is not read; a remote cluster is a Secret with the label ${MULTICLUSTER_LABEL}=true, whose key is the cluster's id and whose value is its kubeconfig`,
  ],
]);

/** What is probably a mistake, and yet no reason to stand still. `rest`: arguments that are no flags of ours. */
export function oddities(
  rest: readonly string[],
  { configDir, kube, registries }: AdapterOptions,
  { options }: Command,
  isLenient: boolean,
): readonly string[] {
  const found: string[] = [];
  const flags = rest.filter(word => word.startsWith('-')).map(word => word.split('=')[0]!);
  for (const flag of flags) {
    const instead = REPLACED.get(flag);
    if (instead !== undefined) throw new CliError(`${flag}: ${instead}`, EXIT.misuse);
  }
  const unknown = flags.find(flag => !OF_ISTIOD.has(flag));
  if (unknown !== undefined && !isLenient) {
    const near = nearestText(
      unknown,
      options.map(({ long }) => long ?? ''),
    );
    throw new CliError(`${unknown}: there is no such flag${near}; --ignore-unknown-flags passes over it`, EXIT.misuse);
  }
  found.push(...environmentProblems(process.env));
  if (rest.length > 0) found.push(`ignored, being no flags of Periplus: ${rest.join(' ')}`);
  if (configDir === undefined && kube === undefined && registries === undefined) {
    found.push('neither --configDir nor a cluster (--kubeconfig) is given: nothing but mesh configuration is read');
  }
  return found;
}

/** As istiod's: `ads:debug,default:info`; a level alone, or for `default` or `all`, is that of every other scope. */
export function logOf(flags: Pick<SourceFlags, 'log_output_level' | 'log_as_json'>): AdjustableLog {
  let level: LogLevel | undefined;
  const levels: Partial<Record<LogScope, LogLevel>> = {};
  for (const part of flags.log_output_level.split(',')) {
    const [scope, given] = part.includes(':') ? part.split(':', 2) : ['default', part];
    // Scopes of istiod that Periplus does not have are passed over: installations name them.
    if (given === undefined || !isLogLevel(given)) throw badLevel(flags.log_output_level);
    if (scope === 'default' || scope === 'all') level = given;
    else if (scope !== undefined && isLogScope(scope)) levels[scope] = given;
  }
  return makeLog({ level: level ?? 'info', levels, json: flags.log_as_json, clock: systemClock, write: tellLog });
}

function badLevel(given: string): CliError {
  const expected = 'debug, info, warn, error or none, each alone or as scope:level';
  return new CliError(`--log_output_level ${given}: expected ${expected}`, EXIT.misuse);
}

export function duration(flag: string, text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new CliError(`${flag} ${text}: expected a duration such as 10s or 30m`, EXIT.misuse);
  return ms;
}

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) {
    throw new CliError(`${flag} ${text}: expected a number above 0`, EXIT.misuse);
  }
  return value;
}

function isDurability(text: string): text is Durability {
  return text === 'full' || text === 'normal' || text === 'off';
}
