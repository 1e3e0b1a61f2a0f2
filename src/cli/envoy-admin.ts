// Envoy's own admin page, as a port-forward of port 15000 brings it: what it has, its bootstrap, its log levels.
// Source: Envoy docs "Administration interface" (/config_dump, /logging).

import type { JsonObject } from '../core/base/json.ts';
import { type EnvoyDump, envoyDumpOf } from '../history/envoy-dump.ts';
import { CliError } from './output.ts';
import { ANSWER_MS_MAX } from './target.ts';

/** A gateway with thousands of routes has some hundred megabytes. */
const ANSWER_BYTES_MAX = 512 * 1024 * 1024;

export const ENVOY_FLAG = [
  '--envoy <host:port>',
  "ask this Envoy's admin page: kubectl port-forward POD 15000, then --envoy localhost:15000",
] as const;

export async function askEnvoy(address: string): Promise<EnvoyDump> {
  const text = await answerOf(address, '/config_dump?include_eds', 'GET');
  let found: EnvoyDump | undefined;
  try {
    found = envoyDumpOf(JSON.parse(text) as JsonObject);
  } catch {
    found = undefined;
  }
  if (found === undefined)
    throw new CliError(`${address} did not answer with a config dump: is it Envoy's admin page?`);
  return found;
}

/** `level`: `debug` for all, or `http:debug,rbac:trace`; undefined: as they are. The levels then, one a line. */
export async function envoyLogLevels(address: string, level?: string): Promise<string> {
  const query =
    level === undefined ? '' : level.includes(':') ? `?paths=${encodeURIComponent(level)}` : `?level=${level}`;
  return answerOf(address, `/logging${query}`, 'POST');
}

async function answerOf(address: string, path: string, method: 'GET' | 'POST'): Promise<string> {
  const url = `http://${address}${path}`;
  let answer: Response;
  try {
    answer = await fetch(url, { method, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch {
    throw new CliError(`no Envoy answers at ${address}; its admin page is on port 15000 of the pod, on its loopback`);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new CliError(`${url}: the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(Buffer.from(chunk));
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (!answer.ok) throw new CliError(`${url} answered ${answer.status}: ${text.trim()}`);
  return text;
}
