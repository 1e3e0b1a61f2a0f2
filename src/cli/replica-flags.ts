// Flags of `serve` as one of several replicas: `--journal nats://…/MESH` names the log that they share, and these say
// how to reach it and where this replica keeps its own journal.

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { isNatsAddress, parseNatsAddress, STREAM_REPLICAS } from '../replicas/nats/address.ts';
import type { ReplicaSettings } from '../runtime/replica-settings.ts';
import { CliError, EXIT } from './output.ts';
import { DEFAULT_JOURNAL } from './target.ts';

/** JetStream keeps a stream on at most this many servers. */
const STREAM_REPLICAS_MAX = 5;

export interface ReplicaFlags {
  readonly journal: string;
  readonly journalKey?: string;
  readonly journalMirror: string;
  readonly journalCa?: string;
  readonly journalCert?: string;
  readonly journalCertKey?: string;
  readonly journalCredentials?: string;
  readonly journalReplicas: string;
  readonly replicaId?: string;
}

/** How to reach the log; also for commands that read or write it without being a replica. */
export function addLogFlags(command: Command): Command {
  return command
    .option('--journal-ca <file>', 'roots that the certificates of the NATS servers are checked with (PEM)')
    .option('--journal-cert <file>', 'certificate that this process shows to the NATS servers (PEM)')
    .option('--journal-cert-key <file>', 'its private key (PEM)')
    .option(
      '--journal-credentials <file>',
      'who this process is to NATS: a .creds file, the seed of an nkey, or user:password',
    )
    .option('--journal-replicas <n>', 'NATS servers that keep the log, at least', String(STREAM_REPLICAS));
}

export function addReplicaFlags(command: Command): Command {
  return addLogFlags(command)
    .option('--journal-mirror <file>', "with --journal nats://…: this replica's own journal", DEFAULT_JOURNAL)
    .option('--replica-id <name>', 'name of this replica among the others (default: POD_NAME, else host and process)');
}

/** Undefined: `--journal` is a file. */
export function replicaSettingsOf(flags: ReplicaFlags): ReplicaSettings | undefined {
  if (!isNatsAddress(flags.journal)) return undefined;
  if (flags.journalKey === undefined) {
    throw new CliError(
      '--journal nats://…: --journalKey FILE is needed, the same at every replica: it seals the secrets in the log',
      EXIT.misuse,
    );
  }
  return logSettingsOf(flags, flags.replicaId || process.env.POD_NAME || `${hostname()}-${process.pid}`);
}

export function logSettingsOf(
  flags: Omit<ReplicaFlags, 'journalMirror' | 'journalKey' | 'replicaId'>,
  id: string,
): ReplicaSettings {
  const address = parseNatsAddress(flags.journal);
  if (typeof address === 'string') throw new CliError(`--journal ${flags.journal}: ${address}`, EXIT.misuse);
  const streamReplicas = Number(flags.journalReplicas);
  if (!Number.isInteger(streamReplicas) || streamReplicas < 1 || streamReplicas > STREAM_REPLICAS_MAX) {
    throw new CliError(
      `--journal-replicas ${flags.journalReplicas}: expected 1 to ${STREAM_REPLICAS_MAX}`,
      EXIT.misuse,
    );
  }
  return {
    address,
    id,
    streamReplicas,
    caFile: existing('--journal-ca', flags.journalCa),
    certFile: existing('--journal-cert', flags.journalCert),
    keyFile: existing('--journal-cert-key', flags.journalCertKey),
    credentialsFile: existing('--journal-credentials', flags.journalCredentials),
  };
}

function existing(flag: string, file: string | undefined): string | undefined {
  if (file === undefined || existsSync(file)) return file;
  throw new CliError(`${flag} ${file}: there is no such file`);
}
