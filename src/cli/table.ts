// Tables of text: columns two blanks apart, as kubectl prints them, cut to the width of a terminal.
//
// Invariant: in a pipe nothing is cut. On a terminal the widest columns give way first, the first one last, because
// it names the row; where that is not enough, columns without a value are left out. One pass over the rows for the
// widths and one for the text: the cost is linear, also for a million rows.

import { coloured } from './terminal.ts';

const GAP = '  ';
/** A column is not cut below this. */
const COLUMN_MIN = 8;
/** A cell is not filled up beyond this: one name of a megabyte would make every row as long. */
const PADDED_MAX = 1_000;
const ELLIPSIS = '…';
/** Escape sequences that colour text: they have no width. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence begins with one
const STYLE = /\u001b\[[0-9;]*m/g;

/** `width`: of the terminal; undefined: as wide as the text is. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
  colour = false,
): string {
  const all = columnWidths(head, rows);
  const kept = needed(all, rows, width);
  const pick = <T>(row: readonly T[]): readonly T[] => (kept.length === all.length ? row : kept.map(i => row[i]!));
  const widths = fitted(pick(all), width);
  const title = lineOf(pick(head), widths);
  const lines = [coloured(title, 'dim', colour)];
  for (const row of rows) for (const part of partsOf(pick(row))) lines.push(lineOf(part, widths));
  return lines.join('\n');
}

/** Indexes of the columns that stay: where cutting alone does not make them fit, those without a value go. */
function needed(
  widths: readonly number[],
  rows: readonly (readonly string[])[],
  width: number | undefined,
): readonly number[] {
  const all = [...widths.keys()];
  const narrowest = widths.reduce((sum, one) => sum + Math.min(one, COLUMN_MIN) + GAP.length, -GAP.length);
  if (width === undefined || narrowest <= width || rows.length === 0) return all;
  return all.filter(i => i === 0 || rows.some(row => (row[i] ?? '') !== '' && row[i] !== '-'));
}

export function columnWidths(head: readonly string[], rows: readonly (readonly string[])[]): number[] {
  const widths = head.map(widthOf);
  for (const row of rows) {
    row.forEach((cell, i) => {
      for (const line of cell.split('\n')) widths[i] = Math.max(widths[i] ?? 0, widthOf(line));
    });
  }
  return widths;
}

/** Takes from the widest column until all fit, or until each is as narrow as it may be. */
export function fitted(widths: readonly number[], width: number | undefined): readonly number[] {
  const fit = [...widths];
  if (width === undefined) return fit;
  let over = fit.reduce((sum, one) => sum + one, 0) + GAP.length * (fit.length - 1) - width;
  while (over > 0) {
    const [widest, next] = [...fit.keys()].sort((a, b) => fit[b]! - fit[a]! || b - a);
    if (widest === undefined || fit[widest]! <= COLUMN_MIN) break;
    const room = fit[widest]! - Math.max(COLUMN_MIN, (next === undefined ? 0 : fit[next]!) - 1);
    const taken = Math.min(over, Math.max(1, room));
    fit[widest] = fit[widest]! - taken;
    over -= taken;
  }
  return fit;
}

/** One line for each line of the cell with most of them. */
function partsOf(row: readonly string[]): readonly (readonly string[])[] {
  if (!row.some(cell => cell.includes('\n'))) return [row];
  const cells = row.map(cell => cell.split('\n'));
  const height = Math.max(...cells.map(lines => lines.length));
  return Array.from({ length: height }, (_, i) => cells.map(lines => lines[i] ?? ''));
}

export function lineOf(row: readonly string[], widths: readonly number[]): string {
  return row
    .map(
      (cell, i) =>
        cut(cell, widths[i] ?? 0) + ' '.repeat(Math.max(0, Math.min(widths[i] ?? 0, PADDED_MAX) - widthOf(cell))),
    )
    .join(GAP)
    .trimEnd();
}

function cut(cell: string, width: number): string {
  if (widthOf(cell) <= width) return cell;
  return `${[...cell.replace(STYLE, '')].slice(0, width - 1).join('')}${ELLIPSIS}`;
}

function widthOf(text: string): number {
  if (!text.includes('\u001b')) return isAscii(text) ? text.length : [...text].length;
  return [...text.replace(STYLE, '')].length;
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
