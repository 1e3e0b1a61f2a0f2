// How many cases of each group come out as istiod's, counted by the scorer of the vectors, and the record in
// conformance.json that the numbers may not fall below. The record only ever rises.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateCases } from './generate-cases.ts';
import { listCases } from './layout.ts';
import type { Vectors } from './vectors.ts';

export const RECORD_FILE = join(import.meta.dirname, '../../conformance.json');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

export interface ConformanceRecord {
  /** Kinds and API groups that are not generated yet: cases with one of them are not compared. */
  readonly skipKinds: readonly string[];
  /** Group → cases that pass. */
  readonly passing: Readonly<Record<string, number>>;
}

export interface GroupScore {
  readonly group: string;
  readonly cases: number;
  readonly passing: number;
  readonly files: number;
  readonly filesPassing: number;
  /** Cases that are not compared. */
  readonly skipped: number;
}

export interface Score {
  readonly groups: readonly GroupScore[];
  /** The first differences, one a line. */
  readonly differences: readonly string[];
  /** Cases or resources that could not be generated at all. */
  readonly failures: readonly string[];
}

export interface ScoreOptions {
  readonly groups: readonly string[];
  readonly skipKinds: readonly string[];
  /** Most differences to show. */
  readonly show: number;
}

export function readRecord(): ConformanceRecord {
  return JSON.parse(readFileSync(RECORD_FILE, 'utf8')) as ConformanceRecord;
}

/**
 * Generates the cases of the groups (all, if none is named) and has them compared. Throws if there is no such group, or
 * no Python.
 */
export async function score(vectors: Vectors, options: ScoreOptions): Promise<Score> {
  const out = mkdtempSync(join(tmpdir(), 'periplus-conformance-'));
  try {
    const failures: string[] = [];
    generateCases(vectors.cases, out, listCases(vectors.cases, options.groups), {
      failed: (name, what, error) => {
        failures.push(`${name}: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      },
    });
    return { ...(await compare(vectors, out, options)), failures };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The groups that have fallen below the record, each with a sentence. */
export function fallen(groups: readonly GroupScore[], record: ConformanceRecord): readonly string[] {
  return groups.flatMap(({ group, passing }) => {
    const before = record.passing[group] ?? 0;
    return passing < before ? [`${group}: ${passing} cases pass; ${before} are recorded`] : [];
  });
}

/** The record with what has risen; what has fallen stays as it was. */
export function raised(groups: readonly GroupScore[], record: ConformanceRecord): ConformanceRecord {
  const passing = new Map(Object.entries(record.passing));
  for (const { group, passing: now } of groups) {
    if (now > (passing.get(group) ?? 0)) passing.set(group, now);
  }
  return { ...record, passing: Object.fromEntries([...passing].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

interface ScorerRow {
  readonly cases?: number;
  readonly cases_ok?: number;
  readonly files?: number;
  readonly files_ok?: number;
  readonly skipped?: number;
}

async function compare(vectors: Vectors, out: string, options: ScoreOptions): Promise<Omit<Score, 'failures'>> {
  const args = [vectors.scorer, vectors.cases, out, '--json', '--show', String(options.show)];
  if (options.skipKinds.length > 0) args.push('--skip-kinds', options.skipKinds.join(','));
  for (const group of options.groups) args.push('--group', group);
  const lines = (await python(args)).trimEnd().split('\n');
  const { groups } = JSON.parse(lines.at(-1) ?? '') as { readonly groups: Readonly<Record<string, ScorerRow>> };
  const rows = Object.entries(groups).map(
    ([group, row]): GroupScore => ({
      group,
      cases: row.cases ?? 0,
      passing: row.cases_ok ?? 0,
      files: row.files ?? 0,
      filesPassing: row.files_ok ?? 0,
      skipped: row.skipped ?? 0,
    }),
  );
  return { groups: rows, differences: lines.slice(0, -1) };
}

/** Its output. The scorer exits 1 when a case differs, which is a result and no failure. */
async function python(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('python3', [...args], { maxBuffer: OUTPUT_BYTES_MAX })).stdout;
  } catch (error) {
    const { code, stdout } = error as { readonly code?: unknown; readonly stdout?: string };
    if (code === 1 && stdout !== undefined && stdout !== '') return stdout;
    throw new Error(`the scorer of the vectors did not run: ${error instanceof Error ? error.message : String(error)}`);
  }
}
