// Where istiod's conformance vectors are. They are no part of the project: its developers and its CI have them beside
// it, others do not.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface Vectors {
  /** Has GROUP/CASE. */
  readonly cases: string;
  /** Python; compares files with the expected ones. */
  readonly scorer: string;
}

/**
 * The vectors, or why there are none. `PERIPLUS_SHARED` names the folder that holds `conformance`; it is `../shared`
 * otherwise.
 */
export function findVectors(): Vectors | { readonly missing: string } {
  const given = process.env.PERIPLUS_SHARED;
  const folder = join(given === undefined ? join(ROOT, '../shared') : resolve(given), 'conformance');
  const vectors = { cases: join(folder, 'cases'), scorer: join(folder, 'score.py') };
  if (existsSync(vectors.cases) && existsSync(vectors.scorer)) return vectors;
  const where = given === undefined ? '../shared/conformance' : folder;
  return {
    missing: `no conformance vectors: ${where} has no cases and score.py (they are no part of this project; PERIPLUS_SHARED names another folder than ../shared)`,
  };
}
