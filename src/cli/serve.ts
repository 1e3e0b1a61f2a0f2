// periplus serve: the control plane, with istiod's own flags and defaults.

import { hostname } from 'node:os';
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { Command } from 'commander';
import { type ControlZ, serveControlZ } from '../admin/controlz.ts';
import { goBoolean } from '../core/base/go-boolean.ts';
import { type SecretAccessRule, secretAccessRules } from '../core/select/secret/secret-access.ts';
import { systemClock } from '../runtime/clock.ts';
import { startControlPlane } from '../runtime/control-plane.ts';
import { type AdjustableLog, logScopes } from '../runtime/log.ts';
import { type Address, parseAddress, type ServeOptions, showAddress } from '../runtime/serve-options.ts';
import { optimizeLater } from './compiler.ts';
import { addIdentityFlags, type IdentityFlags, identityOptionsOf } from './identity-flags.ts';
import { CliError, EXIT } from './output.ts';
import { addReplicaFlags, type ReplicaFlags, replicaSettingsOf } from './replica-flags.ts';
import { startedUnless, stoppedEarly, stopSignal } from './signals.ts';
import {
  addSourceFlags,
  duration,
  logOf,
  oddities,
  requireFolder,
  type SourceFlags,
  sourceOptionsOf,
} from './source-flags.ts';

interface Flags extends SourceFlags, IdentityFlags, ReplicaFlags {
  readonly journal: string;
  readonly journalKey?: string;
  readonly grpcAddr: string;
  readonly httpsAddr: string;
  readonly httpAddr: string;
  readonly monitoringAddr: string;
  readonly ui: string;
  readonly ctrlz_address: string;
  readonly ctrlz_port: string;
  readonly shutdownDuration: string;
  readonly drainDuration: string;
  readonly keepaliveInterval?: string;
  readonly keepaliveTimeout?: string;
  readonly keepaliveMaxServerConnectionAge?: string;
  readonly readOnly: boolean;
}

export function serveCommand(): Command {
  const command = new Command('serve')
    .alias('discovery')
    .description(
      'run the control plane: configuration from files or Kubernetes, xDS to Envoys, everything in a journal',
    );
  return addReplicaFlags(addIdentityFlags(addSourceFlags(command)))
    .option('--grpcAddr <addr>', 'address for plaintext xDS', ':15010')
    .option('--httpsAddr <addr>', "address for the webhooks of injection and validation; '' for none", ':15017')
    .option('--httpAddr <addr>', 'address for /ready and /debug', ':8080')
    .option('--monitoringAddr <addr>', 'address for /metrics, /version and /debug', ':15014')
    .option('--ui <boolean>', 'the explorer below /ui/ of both, for the callers that debug pages answer', 'true')
    .option('--ctrlz_address <host>', 'address of ControlZ, where levels of the log are changed', 'localhost')
    .option('--ctrlz_port <port>', 'port of ControlZ; 0 for none', '9876')
    .option('--read-only', 'send get, list and watch to the API server, and write nothing', false)
    .option('--shutdownDuration <duration>', 'how long a graceful stop may take', '10s')
    .option('--drainDuration <duration>', 'before it, how long /ready says no and all else is answered', '0s')
    .option('--keepaliveInterval <duration>', 'ping a client after this time without traffic (default: 30s)')
    .option('--keepaliveTimeout <duration>', 'close its connection if it does not answer in this time (default: 10s)')
    .option('--keepaliveMaxServerConnectionAge <duration>', 'end connections after this time, so that proxies spread')
    .addHelpText(
      'after',
      `
Environment, besides the feature flags (docs/serving.md has all of it):
  POD_NAME                       the name of this process in elections (default: unknown-<host>)
  PERIPLUS_SECRET_ACCESS         whose TLS keys a gateway may read: review (asks the API server; default with a cluster),
                                 references (those that configuration names; default without) or namespace (all of its own)
  INJECT_ENABLED                 serve the webhook of injection (default true)
  ENABLE_LEADER_ELECTION         write only as the holder of istiod's locks (default true)
  PILOT_ENABLE_WARM_UP           make the first views before /ready says yes (default true)
  PILOT_MAX_REQUESTS_PER_SECOND  new streams a second (default: as many as the machine can serve)
  PILOT_XDS_SEND_TIMEOUT         end a stream that has not taken a response for so long (default: never)
  PILOT_DEBOUNCE_AFTER, PILOT_DEBOUNCE_MAX, PILOT_PUSH_THROTTLE  when pushes leave, and to how many at once`,
    )
    .action(async (flags: Flags, cli: Command) => {
      // gRPC may have been loaded before the environment said so.
      if (process.env.GRPC_VERBOSITY === 'NONE') setLogVerbosity(logVerbosity.NONE);
      optimizeLater();
      requireFolder(flags);
      const log = logOf(flags);
      const options = optionsOf(flags);
      const drainMs = duration('--drainDuration', flags.drainDuration);
      for (const oddity of oddities(cli.args, options, cli, flags.ignoreUnknownFlags)) log('warn', oddity);
      const stopped = stopSignal(log);
      const starting = startControlPlane(options, systemClock, log);
      const plane = await startedUnless(stopped, starting, options.shutdownMs);
      if (plane === undefined) return stoppedEarly(log);
      const controlZ = await openControlZ(flags, log);
      const { grpc, http, https, monitoring, secureGrpc } = plane.ports;
      const secure = secureGrpc === undefined ? '' : ` and over TLS on ${secureGrpc}`;
      const webhooks = https === undefined ? '' : `, webhooks on ${https}`;
      log(
        'info',
        `xDS on port ${grpc}${secure}${webhooks}, ready and debug pages on ${http}, metrics on ${monitoring}`,
      );
      await stopped;
      plane.drain();
      await new Promise(resolve => setTimeout(resolve, drainMs));
      await controlZ?.close();
      await plane.stop();
      log('info', 'stopped');
    });
}

/** As in istiod, one that cannot be opened is a line of the log and nothing more. */
async function openControlZ(
  { ctrlz_address: host, ctrlz_port: port }: Flags,
  log: AdjustableLog,
): Promise<ControlZ | undefined> {
  if (port === '0') return undefined;
  try {
    const failed = (message: string): void => log('warn', `ControlZ: ${message}`);
    return await serveControlZ({ host, port: Number(port) }, log, logScopes, failed);
  } catch (error) {
    log('warn', `ControlZ cannot be opened: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function optionsOf(flags: Flags): ServeOptions {
  const replica = replicaSettingsOf(flags);
  const sources = sourceOptionsOf(replica === undefined ? flags : { ...flags, journal: flags.journalMirror });
  const identity = identityOptionsOf(flags, sources.journal);
  const rule = secretAccess(flags.readOnly || sources.kube === undefined || identity === undefined);
  const env = { ...sources.settings.env, PERIPLUS_SECRET_ACCESS: rule };
  return {
    ...sources,
    replica,
    settings: { ...sources.settings, env },
    ...(flags.readOnly ? {} : { writes: writeOptions() }),
    identity: flags.readOnly && identity !== undefined ? { ...identity, readOnly: true, tokenCheck: 'keys' } : identity,
    grpcAddr: address('--grpcAddr', flags.grpcAddr),
    ...(flags.httpsAddr === '' || identity === undefined ? {} : { httpsAddr: address('--httpsAddr', flags.httpsAddr) }),
    injects: goBoolean(process.env.INJECT_ENABLED ?? '') ?? true,
    httpAddr: address('--httpAddr', flags.httpAddr),
    monitoringAddr: address('--monitoringAddr', flags.monitoringAddr),
    ui: uiOf(flags.ui),
    debugPages: goBoolean(process.env.ENABLE_DEBUG_ON_HTTP) ?? true,
    adminEndpoints: goBoolean(process.env.UNSAFE_ENABLE_ADMIN_ENDPOINTS) ?? false,
    metricsHereOnly: goBoolean(process.env.METRICS_LOCALHOST_ACCESS_ONLY) ?? false,
    shutdownMs: duration('--shutdownDuration', flags.shutdownDuration),
    keepaliveMs: given('--keepaliveInterval', flags.keepaliveInterval),
    keepaliveTimeoutMs: given('--keepaliveTimeout', flags.keepaliveTimeout),
    maxConnectionAgeMs: given('--keepaliveMaxServerConnectionAge', flags.keepaliveMaxServerConnectionAge),
  };
}

function uiOf(text: string): boolean {
  const wanted = goBoolean(text);
  if (wanted === undefined) throw new CliError(`--ui ${text}: expected true or false`, EXIT.misuse);
  return wanted;
}

/** `offline`: no API server may be asked what an account may read. */
function secretAccess(offline: boolean): SecretAccessRule {
  const given = process.env.PERIPLUS_SECRET_ACCESS || (offline ? 'references' : 'review');
  const rule = secretAccessRules.find(known => known === given);
  if (rule === undefined || (rule === 'review' && offline)) {
    const expected = secretAccessRules.filter(known => known !== 'review' || !offline).join(' or ');
    throw new CliError(`PERIPLUS_SECRET_ACCESS ${given}: expected ${expected}`, EXIT.misuse);
  }
  return rule;
}

/** As istiod: the name of the pod, else of the host. */
function writeOptions(): NonNullable<ServeOptions['writes']> {
  const { POD_NAME, ENABLE_LEADER_ELECTION } = process.env;
  return {
    identity: POD_NAME || `unknown-${hostname()}`,
    isElectionEnabled: goBoolean(ENABLE_LEADER_ELECTION ?? '') ?? true,
  };
}

function given(flag: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : duration(flag, text);
}

function address(flag: string, text: string): Address {
  const parsed = parseAddress(text);
  if (parsed === undefined) {
    const example = showAddress({ host: '127.0.0.1', port: 15010 });
    throw new CliError(`${flag} ${text}: expected HOST:PORT or :PORT, e.g. ${example}`, EXIT.misuse);
  }
  return parsed;
}
