// The endpoint picker of test/e2e/endpoint-picker as a process: built where the test runs, asked by Envoy, ended with it.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { find, run } from './binaries.ts';

const SOURCE = join(import.meta.dirname, '../endpoint-picker');

export interface EndpointPicker {
  readonly port: number;
  /** Bodies of the requests that it was asked about. */
  readonly asked: readonly string[];
  readonly stop: () => void;
}

/** `large`, `other`: the endpoints (`address:port`) of requests for the large model and of the rest. */
export async function startPicker(
  folder: string,
  port: number,
  { large, other }: { readonly large: string; readonly other: string },
): Promise<EndpointPicker> {
  const go = find('go');
  if (go === undefined) throw new Error('there is no Go to build the endpoint picker with');
  const program = join(folder, 'endpoint-picker');
  await run(go, ['build', '-trimpath', '-buildvcs=false', '-o', program, '.'], SOURCE);
  const args = ['-listen', `0.0.0.0:${port}`, '-large', large, '-other', other];
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const asked: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => asked.push(...chunk.toString('utf8').split('\n').filter(Boolean)));
  return { port, asked, stop: () => child.kill('SIGKILL') };
}
