// The texts that -f names: files, folders, and `-` for what is piped in. Read once, because a pipe can be read once
// only, and because lines are looked up in the text that was judged, not in what the file has become since.

import { readFile, stat } from 'node:fs/promises';
import { scanFolder } from '../adapters/file/scan.ts';
import { CliError, EXIT, tell } from './output.ts';

export const STDIN = '-';
/** As messages call it. */
export const STDIN_NAME = 'stdin';
export const FILES_HELP = 'files or folders of YAML; - for what is piped in';

export interface Input {
  /** Path, or the name of what is piped in. */
  readonly file: string;
  readonly bytes: Buffer;
}

let piped: Promise<Buffer> | undefined;

/** Sorted within a folder. Folders and files that cannot be read are named on stderr. */
export async function readInputs(paths: readonly string[]): Promise<readonly Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) inputs.push(...(await readInput(path)));
  return inputs;
}

async function readInput(path: string): Promise<readonly Input[]> {
  if (path === STDIN) {
    piped ??= readStdin();
    return [{ file: STDIN_NAME, bytes: await piped }];
  }
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) throw new CliError(`${path}: no such file or folder`);
  if (!info.isDirectory()) return [{ file: path, bytes: await readFile(path) }];
  const { files, hidden } = await scanFolder(path);
  for (const { path: what, why } of hidden) tell(`${what} cannot be read: ${why}`);
  const inputs: Input[] = [];
  for (const file of files) inputs.push({ file: file.path, bytes: await readFile(file.path) });
  return inputs;
}

async function readStdin(): Promise<Buffer> {
  if (process.stdin.isTTY)
    throw new CliError('-f - reads what is piped in, and nothing is: command | periplus …', EXIT.misuse);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
