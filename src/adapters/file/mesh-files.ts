// The two files of the mesh: MeshConfig and MeshNetworks. One that does not exist is an empty configuration, as istiod
// starts with its defaults; one that cannot be looked at, or whose folder has gone since it was read, changes nothing.

import { basename, dirname } from 'node:path';
import { append } from '../../core/base/append.ts';
import type { Json } from '../../core/base/json.ts';
import type { Origin } from '../../core/base/problem.ts';
import type { Fact } from '../../core/event.ts';
import type { Sink } from '../adapter.ts';
import type { Disk } from './disk.ts';
import type { FileParser } from './file-parser.ts';
import { cleared, FILE_BYTES_MAX, placed, tooLarge } from './parse.ts';
import { type FoundFile, findFile, type Hidden, isHidden } from './scan.ts';
import { whyNot } from './why-not.ts';

export type MeshFileKind = 'MeshConfig' | 'MeshNetworks';

export interface MeshFile {
  readonly kind: MeshFileKind;
  readonly path: string;
}

interface Known {
  readonly stamp: string;
  /** Its problem, if it has one. */
  readonly malformed?: Fact;
}

interface Look {
  readonly facts: readonly Fact[];
  readonly hidden: readonly Hidden[];
  /** A file was written to while it was read. */
  readonly again: boolean;
}

const ABSENT = 'absent';

export class MeshFiles {
  readonly files: readonly MeshFile[];
  readonly #disk: Disk;
  readonly #parser: FileParser;
  readonly #known = new Map<string, Known>();

  constructor(files: readonly MeshFile[], disk: Disk, parser: FileParser) {
    this.#parser = parser;
    this.files = files;
    this.#disk = disk;
  }

  /** Problems of the files, which each list repeats. */
  malformed(): readonly Fact[] {
    return [...this.#known.values()].flatMap(({ malformed }) => malformed ?? []);
  }

  /** What changed since the last look. */
  async look(sink: Sink): Promise<Look> {
    const facts: Fact[] = [];
    const hidden: Hidden[] = [];
    let again = false;
    for (const file of this.files) {
      const said = await this.#lookAt(file, sink);
      if (said === 'again') again = true;
      else if ('why' in said) hidden.push(said);
      else append(facts, said);
    }
    return { facts, hidden, again };
  }

  async #lookAt({ kind, path }: MeshFile, sink: Sink): Promise<readonly Fact[] | Hidden | 'again'> {
    const found = await findFile(path, false, this.#disk);
    if (isHidden(found)) return found;
    if (found === undefined) return this.#absent(kind, path, sink);
    const known = this.#known.get(path);
    if (known?.stamp === found.stamp) return [];
    const value = await this.#read(path, found);
    if (value === 'again' || 'why' in value) return value;
    if ('reason' in value) {
      const malformed: Fact = { kind: 'Malformed', origin: value.origin, reasons: [placed(value)] };
      this.#known.set(path, { stamp: found.stamp, malformed });
      return [malformed];
    }
    this.#known.set(path, { stamp: found.stamp });
    const fact: Fact = { kind, value: value.value, origin: { file: path } };
    return known?.malformed === undefined ? [fact] : [fact, cleared(path)];
  }

  async #absent(kind: MeshFileKind, path: string, sink: Sink): Promise<readonly Fact[] | Hidden> {
    const known = this.#known.get(path);
    if (known?.stamp === ABSENT) return [];
    const why = await this.#whyNoFolder(path);
    if (why !== undefined && sink.holds({ mesh: kind })) return { path, why };
    this.#known.set(path, { stamp: ABSENT });
    return [{ kind, value: null, origin: { file: path } }, cleared(path)];
  }

  /** Why nothing can be known of the file: there is a folder in its place, or none to look into. */
  async #whyNoFolder(path: string): Promise<string | undefined> {
    const isFolder = (at: string): Promise<boolean> =>
      this.#disk.stat(at).then(
        info => info.isDirectory(),
        () => false,
      );
    if (await isFolder(path)) return 'is a folder';
    return (await isFolder(dirname(path))) ? undefined : 'its folder is not there';
  }

  /** The one document of a mesh config file; an empty file is an empty configuration. */
  async #read(
    path: string,
    { size, stamp }: FoundFile,
  ): Promise<{ readonly value: Json } | { readonly origin: Origin; readonly reason: string } | Hidden | 'again'> {
    if (size > FILE_BYTES_MAX) return { origin: { file: path }, reason: tooLarge(size) };
    const bytes = await this.#disk.readFile(path).catch((error: Error) => error);
    const after = await findFile(path, false, this.#disk);
    if (after === undefined || (!isHidden(after) && after.stamp !== stamp)) return 'again';
    if (bytes instanceof Error) return { path, why: whyNot(bytes) };
    const parsed = await this.#parser.documents(path, new TextDecoder().decode(bytes));
    if ('reason' in parsed) return parsed;
    const [document, second] = parsed.documents;
    if (document === undefined) return { value: {} };
    if (document.errors[0] !== undefined) return document.errors[0];
    if (second !== undefined) return { origin: second.origin, reason: `${basename(path)} must hold one document` };
    return { value: document.value };
  }
}

/** The files that are named; a name that is empty is none. */
export function meshFilesOf({
  meshConfig,
  networksConfig,
}: {
  readonly meshConfig?: string;
  readonly networksConfig?: string;
}): readonly MeshFile[] {
  const files: MeshFile[] = [];
  if (isText(meshConfig)) files.push({ kind: 'MeshConfig', path: meshConfig });
  if (isText(networksConfig)) files.push({ kind: 'MeshNetworks', path: networksConfig });
  return files;
}

export function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
