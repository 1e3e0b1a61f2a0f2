// Credentials that a program of the user's makes (aws, gke-gcloud-auth-plugin, kubelogin …): run once, kept until they
// expire or are refused. Bounded in time and output; what the program prints on stdout is never quoted.
// Source: Kubernetes client-go plugin/pkg/client/auth/exec/exec.go; KEP 541 (client.authentication.k8s.io/v1).

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';

/** A plugin may open a browser or ask a metadata server. */
export const EXEC_MS_MAX = 60_000;
const OUTPUT_CHARS_MAX = 1024 * 1024;
/** Of what it wrote to stderr, in a message. */
const SHOWN_CHARS_MAX = 500;
const VERSIONS: readonly string[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
  'client.authentication.k8s.io/v1alpha1',
];
const EXTENSION = 'client.authentication.k8s.io/exec';

export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Said when the command is not there. */
  readonly installHint: string;
  /** The cluster for `provideClusterInfo`. */
  readonly cluster?: JsonObject;
}

export interface ExecCredential {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
  /** ms since the epoch; undefined: until it is refused. */
  readonly expiresAt?: number;
}

/** Throws if it cannot be run by a program without a terminal. `folder`: of the kubeconfig. */
export function execPluginOf(exec: JsonObject, cluster: JsonObject, folder: string): ExecPlugin {
  const apiVersion = textOf(exec.apiVersion);
  const command = textOf(exec.command);
  if (command === '') throw new Error('users[].user.exec names no command');
  if (!VERSIONS.includes(apiVersion)) throw new Error(`exec plugin ${command}: apiVersion ${apiVersion} is not known`);
  if (exec.interactiveMode === 'Always') throw new Error(`exec plugin ${command} wants a terminal (interactiveMode)`);
  const env: readonly Json[] = Array.isArray(exec.env) ? exec.env : [];
  return {
    apiVersion,
    // A path is one beside the kubeconfig; a bare name is looked for in PATH.
    command: command.includes('/') ? resolve(folder, command) : command,
    args: Array.isArray(exec.args) ? exec.args.map(String) : [],
    env: Object.fromEntries(env.flatMap(one => (isObject(one) ? [[textOf(one.name), textOf(one.value)]] : []))),
    installHint: textOf(exec.installHint),
    ...(exec.provideClusterInfo === true ? { cluster: clusterInfo(cluster) } : {}),
  };
}

/** Rejects with what went wrong, and what the program wrote to stderr. */
export async function runPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { apiVersion, cluster } = plugin;
  const spec = { interactive: false, ...(cluster === undefined ? {} : { cluster }) };
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });
  const output = await outputOf(plugin, { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info });
  let answer: Json;
  try {
    answer = JSON.parse(output) as Json;
  } catch {
    throw new Error(`exec plugin ${plugin.command}: its output is not JSON`);
  }
  const status = isObject(answer) && answer.kind === 'ExecCredential' ? answer.status : undefined;
  if (!isObject(status))
    throw new Error(`exec plugin ${plugin.command}: its output is no ExecCredential with a status`);
  const token = textOf(status.token);
  const certificate = textOf(status.clientCertificateData);
  const key = textOf(status.clientKeyData);
  if ((certificate === '') !== (key === ''))
    throw new Error(`exec plugin ${plugin.command}: a certificate needs its key`);
  if (token === '' && key === '') throw new Error(`exec plugin ${plugin.command}: no token and no certificate`);
  const expiresAt = Date.parse(textOf(status.expirationTimestamp));
  return {
    ...(token === '' ? {} : { token }),
    ...(key === '' ? {} : { certificate, key }),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}

function outputOf({ command, args, installHint }: ExecPlugin, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: EXEC_MS_MAX });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > OUTPUT_CHARS_MAX) child.kill();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = `${complaint}${text}`.slice(0, SHOWN_CHARS_MAX);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'there is no such program' : error.message;
      fail(new Error(`exec plugin ${command}: ${why}${installHint === '' ? '' : `\n${installHint}`}`));
    });
    child.on('close', (code, signal) => {
      if (code === 0) return done(output);
      const how = code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
      fail(new Error(`exec plugin ${command}: ${how}${complaint === '' ? '' : `: ${complaint.trim()}`}`));
    });
  });
}

/** The cluster in the form of ExecCredential: without user, with the settings for the plugin. */
function clusterInfo(cluster: JsonObject): JsonObject {
  const { extensions, 'certificate-authority': _, ...known } = cluster;
  const listed: readonly Json[] = Array.isArray(extensions) ? extensions : [];
  const own = listed.find(one => isObject(one) && one.name === EXTENSION);
  const config = isObject(own) ? own.extension : undefined;
  return config === undefined ? known : { ...known, config };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
