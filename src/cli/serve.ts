// periplus serve: the control plane, with istiod's own flags and defaults.

import { Command } from 'commander';
import { durationMs } from '../core/features.ts';
import type { Durability } from '../journal/journal.ts';
import { systemClock } from '../runtime/clock.ts';
import { startControlPlane } from '../runtime/control-plane.ts';
import { isLogLevel, type Log, makeLog } from '../runtime/log.ts';
import {
  type Address,
  parseAddress,
  parseClusterAliases,
  type ServeOptions,
  settingsFrom,
  showAddress,
} from '../runtime/serve-options.ts';
import { DEFAULT_JOURNAL } from './journal.ts';
import { CliError, EXIT } from './output.ts';

interface Flags {
  readonly configDir?: string;
  readonly meshConfig: string;
  readonly networksConfig: string;
  readonly grpcAddr: string;
  readonly httpAddr: string;
  readonly monitoringAddr: string;
  readonly domain: string;
  readonly clusterID: string;
  readonly clusterAliases: string;
  readonly namespace: string;
  readonly shutdownDuration: string;
  readonly keepaliveMaxServerConnectionAge?: string;
  readonly journal: string;
  readonly journalKey?: string;
  readonly journalDurability: string;
  readonly journalStrict: boolean;
  readonly log_output_level: string;
  readonly log_as_json: boolean;
}

export function serveCommand(): Command {
  return new Command('serve')
    .alias('discovery')
    .description('run the control plane: configuration from files, xDS to Envoys, everything in a journal')
    .option('--configDir <dir>', 'folder of YAML files: Istio and Kubernetes objects, watched')
    .option('--meshConfig <file>', 'MeshConfig, watched; need not exist', './etc/istio/config/mesh')
    .option('--networksConfig <file>', 'MeshNetworks, watched; need not exist', './etc/istio/config/meshNetworks')
    .option('--grpcAddr <addr>', 'address for plaintext xDS', ':15010')
    .option('--httpAddr <addr>', 'address for /ready and /debug', ':8080')
    .option('--monitoringAddr <addr>', 'address for /metrics, /version and /debug', ':15014')
    .option('--domain <suffix>', 'DNS domain suffix of the mesh', 'cluster.local')
    .option('--clusterID <id>', 'id of the cluster that the configuration belongs to', 'Kubernetes')
    .option(
      '--clusterAliases <pairs>',
      'other names of clusters, alias=cluster,…: proxies may say them as their CLUSTER_ID',
      '',
    )
    .option('-n, --namespace <ns>', 'namespace of the control plane', process.env.POD_NAMESPACE ?? 'istio-system')
    .option('--shutdownDuration <duration>', 'how long a graceful stop may take', '10s')
    .option('--keepaliveMaxServerConnectionAge <duration>', 'end connections after this time, so that proxies spread')
    .option('-j, --journal <file>', 'journal of everything that happens; made if it does not exist', DEFAULT_JOURNAL)
    .option('--journalKey <file>', 'key that seals secrets in the journal (default: <journal>.key, made at first use)')
    .option('--journalDurability <setting>', 'what survives a power cut: full, normal or off', 'full')
    .option('--journal-strict', 'stand still rather than serve what cannot be recorded', false)
    .option('--log_output_level <level>', 'debug, info, warn, error or none', 'info')
    .option('--log_as_json', 'log lines as JSON', false)
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      'after',
      "\nFlags of istiod that Periplus does not know are ignored. Feature flags are istiod's environment variables.",
    )
    .action(async (flags: Flags) => {
      const log = logOf(flags);
      const plane = await startControlPlane(optionsOf(flags), systemClock, log);
      const { grpc, http, monitoring } = plane.ports;
      log('info', `xDS on port ${grpc}, ready and debug pages on ${http}, metrics on ${monitoring}`);
      await stopSignal(log);
      await plane.stop();
      log('info', 'stopped');
    });
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function stopSignal(log: Log): Promise<void> {
  return new Promise(resolve => {
    let asked = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (asked) process.exit(EXIT.failed);
      asked = true;
      log('info', `${signal}: stopping`);
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

function logOf(flags: Flags): Log {
  // istiod takes `default:debug` and `ads:debug,default:info` too; the level named for `default`, or alone, counts.
  const level = flags.log_output_level
    .split(',')
    .map(part => part.replace(/^(default|all):/, ''))
    .find(isLogLevel);
  if (level === undefined) {
    throw new CliError(
      `--log_output_level ${flags.log_output_level}: expected debug, info, warn, error or none`,
      EXIT.misuse,
    );
  }
  const write = (line: string): void => void process.stderr.write(line);
  return makeLog({ level, json: flags.log_as_json, clock: systemClock, write });
}

function optionsOf(flags: Flags): ServeOptions {
  const { domain, clusterID, namespace, journalDurability } = flags;
  if (!isDurability(journalDurability)) {
    throw new CliError(`--journalDurability ${journalDurability}: expected full, normal or off`, EXIT.misuse);
  }
  const clusterAliases = parseClusterAliases(flags.clusterAliases);
  if (clusterAliases === undefined) {
    throw new CliError(`--clusterAliases ${flags.clusterAliases}: expected alias=cluster,alias=cluster`, EXIT.misuse);
  }
  const age = flags.keepaliveMaxServerConnectionAge;
  return {
    configDir: flags.configDir,
    meshConfig: flags.meshConfig,
    networksConfig: flags.networksConfig,
    sharedMeshConfig: process.env.SHARED_MESH_CONFIG || undefined,
    grpcAddr: address('--grpcAddr', flags.grpcAddr),
    httpAddr: address('--httpAddr', flags.httpAddr),
    monitoringAddr: address('--monitoringAddr', flags.monitoringAddr),
    settings: settingsFrom(
      { domainSuffix: domain, clusterId: clusterID, systemNamespace: namespace, clusterAliases },
      process.env,
    ),
    journal: flags.journal,
    journalKey: flags.journalKey,
    journalDurability,
    journalStrict: flags.journalStrict,
    shutdownMs: duration('--shutdownDuration', flags.shutdownDuration),
    maxConnectionAgeMs: age === undefined ? undefined : duration('--keepaliveMaxServerConnectionAge', age),
  };
}

function isDurability(text: string): text is Durability {
  return text === 'full' || text === 'normal' || text === 'off';
}

function address(flag: string, text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) {
    const example = showAddress({ host: '127.0.0.1', port: 15010 });
    throw new CliError(`${flag} ${text}: expected HOST:PORT or :PORT, e.g. ${example}`, EXIT.misuse);
  }
  return parsed;
}

function duration(flag: string, text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new CliError(`${flag} ${text}: expected a duration such as 10s or 30m`, EXIT.misuse);
  return ms;
}
