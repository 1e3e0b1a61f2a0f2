// What is past the limits, as a table: the longest turn, the CPU beside that of a plain valid input of the same size, and
// how the CPU grows when the size is quadrupled.

import Table from 'cli-table3';
import type { Result } from './run.ts';
import type { Screened } from './screen.ts';

export const LIMITS = { turnMs: 100, timesPlain: 10, growth: 6 };

/** Plain valid inputs have this before their size in KiB. */
export const PLAIN = 'plain/';

export interface Judged extends Result {
  readonly worstTurnMs: number;
  readonly timesPlain?: number;
  readonly growth?: number;
  readonly over: readonly string[];
}

export function judged(results: readonly Result[]): readonly Judged[] {
  const plain = results.filter(({ id }) => id.startsWith(PLAIN));
  return results
    .filter(({ id }) => !id.startsWith(PLAIN))
    .map(result => judge(result, plain))
    .sort((a, b) => b.worstTurnMs - a.worstTurnMs || (a.id < b.id ? -1 : 1));
}

function judge(result: Result, plain: readonly Result[]): Judged {
  const { add, change, remove, kb, quarterMs, error } = result;
  const steps = [add, change, remove];
  const worstTurnMs = Math.max(...steps.map(({ turnMs }) => turnMs));
  const nearest = plain.reduce<Result | undefined>(
    (best, one) => (best === undefined || Math.abs(one.kb - kb) < Math.abs(best.kb - kb) ? one : best),
    undefined,
  );
  const timesPlain = nearest && cpuOf(result) / ((cpuOf(nearest) * kb) / nearest.kb);
  const growth = quarterMs === undefined ? undefined : add.cpuMs / Math.max(1, quarterMs);
  const over = [
    ...(worstTurnMs > LIMITS.turnMs ? ['turn'] : []),
    ...(timesPlain !== undefined && timesPlain > LIMITS.timesPlain ? ['CPU'] : []),
    ...(growth !== undefined && growth > LIMITS.growth ? ['growth'] : []),
    ...(steps.some(({ unfinished }) => unfinished) ? ['unfinished'] : []),
    ...(error === undefined ? [] : ['error']),
  ];
  return { ...result, worstTurnMs, timesPlain, growth, over };
}

function cpuOf({ add, change, remove }: Result): number {
  return add.cpuMs + change.cpuMs + remove.cpuMs;
}

export function screenTable(results: readonly Screened[]): string {
  const head = ['case', 'fold ms', 'slice ms', 'CPU ms', '×4 size', 'error'];
  const rows = new Table({ head, style: { head: [], border: [], compact: true } });
  for (const { id, foldMs, sliceMs, cpuMs, growth, error = '' } of results)
    rows.push([id, foldMs, sliceMs, cpuMs, growth, error]);
  return rows.toString();
}

export function table(results: readonly Judged[]): string {
  const rows = new Table({
    head: [
      'case',
      'KiB',
      'valid',
      'turn ms: add',
      'change',
      'remove',
      'CPU ms',
      '× plain',
      '×4 size',
      'MB',
      'peak MB',
      'over',
    ],
    style: { head: [], border: [], compact: true },
  });
  for (const one of results) {
    const { id, kb, accepted, add, change, remove, timesPlain, growth, peakMb, over, error } = one;
    rows.push([
      id,
      kb,
      accepted ? 'yes' : 'no',
      add.turnMs,
      change.turnMs,
      remove.turnMs,
      cpuOf(one),
      timesPlain?.toFixed(1) ?? '',
      growth?.toFixed(1) ?? '',
      add.sentMb,
      peakMb,
      `${over.join(', ')}${error === undefined ? '' : `: ${error}`}`,
    ]);
  }
  return rows.toString();
}
