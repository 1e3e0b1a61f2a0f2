// Where the answers of reading commands come from: a journal file, also one that a running control plane writes, or
// that control plane itself, over its debug pages. The options are the same for all of them.

import type { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import type { State } from '../core/state.ts';
import { type History, openHistory } from '../history/history.ts';
import { POSITION_HELP, resolvePosition } from '../history/position.ts';
import { journalNamed } from './exported-journal.ts';
import { CliError, EXIT, progress, tell } from './output.ts';

/** How long the control plane may take to answer. */
export const ANSWER_MS_MAX = 10_000;
const BAD_REQUEST = 400;
export const DEFAULT_ADDRESS = 'localhost:15014';
export const DEFAULT_JOURNAL = '.periplus/journal.db';
export const journalOption = ['-j, --journal <file>', 'journal to read', DEFAULT_JOURNAL] as const;

export const AT_HELP = `A position is ${POSITION_HELP}.`;

export interface TargetOptions {
  readonly journal?: string;
  readonly at?: string;
  readonly address: string;
}

export function withTargetOptions(command: Command): Command {
  return command
    .option('-j, --journal <file>', 'ask this journal instead of a running control plane')
    .option('--at <position>', 'as it was at an event or a time; default: now')
    .option('--address <host:port>', 'monitoring address of the control plane', DEFAULT_ADDRESS);
}

/**
 * Opens a journal, or an exported one, for the time of `use`; folding that takes long shows how far it is. `travels`:
 * `use` goes to many positions.
 */
export async function withHistory<T>(path: string, use: (history: History) => Promise<T>, travels = false): Promise<T> {
  const { journal, remove } = await journalNamed(path);
  const line = progress('folding the journal');
  try {
    const history = await openHistory(journal, { onProgress: line.show, keepStates: true, oneVisit: !travels });
    try {
      return await use(history);
    } finally {
      await history.close();
    }
  } finally {
    line.end();
    await remove();
  }
}

/** On stderr, where a journal has pods and no proxies: what the answers are about. */
export function tellOfPods({ proxies, objects, seq }: State): void {
  if (proxies.size > 0 || objects.Pod.size === 0) return;
  tell(`no proxy is connected at event ${seq}: the pods are taken for sidecars`);
}

/** The seq that the option means; without it the head. */
export async function positionOf(history: History, at: string | undefined): Promise<number> {
  return at === undefined ? history.head().seq : resolvePosition(history.journal, at);
}

/** As positionOf; a time before the journal begins is its beginning, because a range may reach further back. */
export async function rangeStart(history: History, text: string | undefined): Promise<number> {
  if (text === undefined) return history.first();
  return resolvePosition(history.journal, text, 'clamped');
}

type PageQuery = Readonly<Record<string, string | readonly string[] | undefined>>;
const ELSE_JOURNAL = ', --journal FILE asks a journal';

/**
 * The JSON of a page of the running control plane. Its own words if it says no. `otherwise`: what else can be asked.
 */
export async function askServer(
  address: string,
  path: string,
  query: PageQuery = {},
  otherwise = ELSE_JOURNAL,
): Promise<Json> {
  const text = await askServerText(address, path, query, otherwise);
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new CliError(`http://${address}${path} is not JSON: is this the monitoring address of Periplus?`);
  }
}

/** As askServer, of a page that is plain text. */
export async function askServerText(
  address: string,
  path: string,
  query: PageQuery = {},
  otherwise = ELSE_JOURNAL,
): Promise<string> {
  const given = new URLSearchParams();
  for (const [name, value = []] of Object.entries(query)) {
    for (const one of typeof value === 'string' ? [value] : value) given.append(name, one);
  }
  const search = given.size === 0 ? '' : `?${given.toString()}`;
  const url = `http://${address}${path}${search}`;
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch {
    throw new CliError(
      `no control plane answers at ${address}; is \`periplus serve\` running? --address HOST:PORT names another one${otherwise}`,
    );
  }
  const text = await answer.text();
  if (!answer.ok) {
    const message = text.trim() === '' ? `${url} answered ${answer.status}` : text.trim();
    throw new CliError(message, answer.status === BAD_REQUEST ? EXIT.misuse : EXIT.failed);
  }
  return text;
}
