// What was measured, on what: the JSON that is printed and kept as the baseline, and the ratio of each figure to the one before.

import { readFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Figure, Figures } from './measure.ts';

const ROOT = join(import.meta.dirname, '..');
export const BASELINE = join(import.meta.dirname, 'baseline.json');

export interface Report {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryGb: number; readonly os: string };
  readonly versions: Readonly<Record<string, string>>;
  readonly figures: Readonly<Record<string, Figure & { readonly ratio?: number }>>;
}

/** `ratio` of a figure: how many times better (above 1) or worse (below 1) than in the baseline, if that has it. */
export function report(figures: Figures, baseline: Report | undefined): Report {
  const compared = Object.entries(figures).map(([name, figure]) => {
    const before = baseline?.figures[name];
    return [name, before === undefined ? figure : { ...figure, ratio: ratioOf(figure, before) }] as const;
  });
  return { machine: machine(), versions: versions(), figures: Object.fromEntries(compared) };
}

/** The baseline with these in place of its own; throws if another machine measured the others. */
export function withFigures(baseline: Report | undefined, figures: Figures): Report {
  const made = report(figures, undefined);
  if (baseline === undefined) return made;
  const of = ({ cpu, cores }: Report['machine']): string => `${cores} × ${cpu}`;
  if (of(baseline.machine) !== of(made.machine) || baseline.versions.node !== made.versions.node) {
    throw new Error(
      `the baseline was measured on ${of(baseline.machine)} with Node ${baseline.versions.node}: leave out --only`,
    );
  }
  return { ...baseline, figures: { ...baseline.figures, ...made.figures } };
}

function ratioOf(now: Figure, before: Figure): number {
  const ratio = now.better === 'more' ? now.value / before.value : before.value / now.value;
  return Number(ratio.toPrecision(3));
}

/** The committed figures; undefined if there are none yet. */
export function readBaseline(): Report | undefined {
  try {
    return JSON.parse(readFileSync(BASELINE, 'utf8')) as Report;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function machine(): Report['machine'] {
  const all = cpus();
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    os: `${platform()} ${release()}`,
  };
}

function versions(): Readonly<Record<string, string>> {
  const { version, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return { node: process.version, periplus: version, ...dependencies };
}

/** One line a figure, for people. */
export function table(made: Report): string {
  const width = Math.max(...Object.keys(made.figures).map(name => name.length));
  const lines = Object.entries(made.figures).map(([name, { value, unit, ratio, istiod, least, most }]) => {
    const compared = ratio === undefined ? '' : `  ${ratio.toFixed(2)} × as good as the baseline`;
    const beside = istiod === undefined ? '' : `  istiod ${istiod} (${(value / istiod).toFixed(1)} ×)`;
    const spread = least === undefined ? '' : `  (${least} to ${most})`;
    return `${name.padEnd(width)}  ${String(value).padStart(8)} ${unit.padEnd(8)}${compared}${beside}${spread}`;
  });
  return lines.join('\n');
}
