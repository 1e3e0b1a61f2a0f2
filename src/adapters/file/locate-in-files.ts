// Lines and columns of what is wrong in objects of files: each file is read once, and not at all if it has grown past
// the limit.

import type { Origin } from '../../core/base/problem.ts';
import type { ObjectPlace } from '../adapter.ts';
import type { Disk } from './disk.ts';
import type { FileParser } from './file-parser.ts';
import { FILE_BYTES_MAX } from './parse.ts';

/** In the order of `places`; undefined where it cannot be said. */
export async function locateInFiles(
  places: readonly ObjectPlace[],
  parser: FileParser,
  disk: Disk,
): Promise<readonly (Origin | undefined)[]> {
  const byFile = new Map<string, number[]>();
  for (const [i, { origin }] of places.entries()) {
    if (origin.line === undefined) continue;
    const known = byFile.get(origin.file);
    if (known === undefined) byFile.set(origin.file, [i]);
    else known.push(i);
  }
  const found: (Origin | undefined)[] = places.map(() => undefined);
  for (const [file, wanted] of byFile) {
    const text = await textOf(file, disk);
    if (text === undefined) continue;
    const asked = wanted.map(i => ({ line: places[i]?.origin.line ?? 1, path: places[i]?.path ?? '' }));
    const positions = await parser.locate(text, asked);
    for (const [at, i] of wanted.entries()) {
      const position = positions[at];
      if (position !== undefined) found[i] = { file, ...position };
    }
  }
  return found;
}

async function textOf(file: string, disk: Disk): Promise<string | undefined> {
  const bytes = await disk.readFile(file).catch(() => undefined);
  return bytes === undefined || bytes.length > FILE_BYTES_MAX ? undefined : new TextDecoder().decode(bytes);
}
