// What commands print: tables that align, JSON and YAML for scripts, progress on a terminal, and errors that say what
// to do.

import { stringify } from 'yaml';
import { canonicalJson, type Json } from '../core/base/json.ts';
import { HistoryFault } from '../history/history-fault.ts';
import { JournalFault } from '../journal/fault.ts';
import { StartFault } from '../runtime/start-fault.ts';
import { tableText } from './table.ts';
import { hasColour, shown, widthOf } from './terminal.ts';

export type OutputFormat = 'table' | 'json' | 'yaml';

/** Exit codes that scripts can use. */
export const EXIT = { ok: 0, failed: 1, misuse: 2 } as const;

/** An error whose message is for the user as it is. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** As `print`, on stderr: what is no part of the answer. */
export function tell(text: string): void {
  process.stderr.write(`${shown(text)}\n`);
}

/** Lines of a log, with their ends. */
export function tellLog(lines: string): void {
  process.stderr.write(shown(lines));
}

/** As a terminal may show it, in pipes too. */
export function print(text: string): void {
  const safe = shown(text);
  process.stdout.write(safe.endsWith('\n') ? safe : `${safe}\n`);
}

export function printData(value: Json, format: 'json' | 'yaml'): void {
  print(format === 'json' ? JSON.stringify(value, null, 2) : stringify(value, { lineWidth: 0 }));
}

/** Columns in the order of `head`; on a terminal cut to its width. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  print(tableText(head, rows, widthOf(), hasColour()));
}

/** A line that is rewritten in place, on a terminal only, from the first second on. */
export function progress(label: string): {
  readonly show: (done: number, of: number) => void;
  readonly end: () => void;
} {
  const started = Date.now();
  let shown = false;
  let last = 0;
  return {
    show: (done, of) => {
      const now = Date.now();
      if (!process.stderr.isTTY || now - started < 1_000 || now - last < 100) return;
      last = now;
      shown = true;
      process.stderr.write(`\r${label}: ${done} of ${of} (${of === 0 ? 100 : Math.floor((100 * done) / of)} %) `);
    },
    end: () => {
      if (shown) process.stderr.write('\r\u001b[K');
    },
  };
}

/** One line for stderr, and the exit code. */
export function explainError(error: unknown): { readonly text: string; readonly exitCode: number } {
  if (error instanceof CliError) return { text: error.message, exitCode: error.exitCode };
  if (error instanceof HistoryFault) return { text: error.message, exitCode: error.misuse ? EXIT.misuse : EXIT.failed };
  if (error instanceof JournalFault || error instanceof StartFault)
    return { text: error.message, exitCode: EXIT.failed };
  if (isSystemError(error)) return { text: explainSystemError(error), exitCode: EXIT.failed };
  const detail = error instanceof Error ? (error.stack ?? error.message) : canonicalJson(String(error));
  return { text: `unexpected failure, please report it: ${detail}`, exitCode: EXIT.failed };
}

/**
 * What the operating system refused: a file that is not there, an address in use. Not a failure of ours, so without a
 * stack.
 */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && typeof error.syscall === 'string';
}

/** `ENOENT: no such file or directory, open 'x'` → `x: no such file or directory`. */
function explainSystemError(error: NodeJS.ErrnoException): string {
  if (error.path === undefined) return error.message;
  const words = /^[A-Z0-9]+: ([^,]+)/.exec(error.message)?.[1] ?? error.message;
  return `${error.path}: ${words}`;
}

export function parseFormat(text: string): OutputFormat {
  if (text === 'table' || text === 'json' || text === 'yaml') return text;
  throw new CliError(`-o ${text}: expected table, json or yaml`, EXIT.misuse);
}

/** `2026-11-21T13:02:11.123Z` */
export function showTime(ms: number): string {
  const date = new Date(ms);
  // A certificate from elsewhere may say anything of its end.
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}
