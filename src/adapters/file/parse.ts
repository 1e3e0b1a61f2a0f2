// One file's bytes → its objects, each with the line where it begins, and the problems of documents that are no
// objects.
//
// YAML as Kubernetes reads it (core/base/yaml.ts). Never throws; every limit is named. A document with an error never
// hides the others.

import { type Document, isMap, LineCounter } from 'yaml';
import { append } from '../../core/base/append.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import type { Origin } from '../../core/base/problem.ts';
import { composedDocuments, documentValue, YamlRefused } from '../../core/base/yaml.ts';
import type { Fact, ObjectRef, RawObject } from '../../core/event.ts';
import { definitionOf, isForeign } from '../../core/kinds/registry.ts';
import { plainJson } from './plain-json.ts';
import { plainDocuments } from './plain-yaml.ts';

/** A larger file is refused unread. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** Documents in one file. */
export const DOCUMENTS_MAX = 10_000;
/** Errors reported for one file. */
export const ERRORS_MAX = 20;

export interface ParsedObject {
  readonly ref: ObjectRef;
  readonly object: RawObject;
  readonly origin: Origin;
}

/** A remark about a document, and where that begins. */
export interface Remark {
  readonly origin: Origin;
  readonly reason: string;
}

export interface ParsedFile {
  readonly objects: readonly ParsedObject[];
  readonly malformed: readonly Remark[];
  /** Objects of other projects' kinds. */
  readonly ignored: readonly Remark[];
  /** False: an object may stand in what could not be read. */
  readonly complete: boolean;
}

export function parseFile(file: string, bytes: Uint8Array): ParsedFile {
  const text = decodeText(file, bytes);
  if (typeof text !== 'string') return unreadFile(text);
  const documents = parseDocuments(file, text);
  const parsed = 'reason' in documents ? unreadFile(documents) : objectsOf(documents.documents);
  if (parsed.malformed.length === 0 || !TEMPLATE.test(text)) return parsed;
  return { ...parsed, malformed: [{ origin: { file, line: 1, column: 1 }, reason: TEMPLATE_FOUND }] };
}

/** Actions of Helm's template language where YAML would be. */
const TEMPLATE =
  /\{\{-?\s*(?:[.$(]|(?:if|else|end|range|with|include|define|template|toYaml|tpl|default|quote|printf|block|fail|required|lookup)\b)/;
const TEMPLATE_FOUND =
  'looks like a Helm template and not like YAML: render it first, e.g. helm template CHART | periplus analyze -f -';

/** As parseFile, in a fraction of its time; undefined if the text is not as plain as that. */
export function parsePlainFile(file: string, bytes: Uint8Array): ParsedFile | undefined {
  const text = decodeText(file, bytes);
  const documents = typeof text === 'string' ? parsePlain(file, text) : undefined;
  return documents === undefined ? undefined : objectsOf(documents);
}

function objectsOf(documents: readonly ParsedDocument[]): ParsedFile {
  const found: Found = { objects: [], malformed: [], ignored: [] };
  for (const { value, origin, errors } of documents) {
    if (errors.length > 0) append(found.malformed, errors);
    else collect(value, origin, found);
  }
  const complete = found.malformed.length === 0;
  const objects = withoutRepeats(found);
  const { malformed, ignored } = found;
  return { objects, malformed: malformed.slice(0, ERRORS_MAX), ignored: ignored.slice(0, ERRORS_MAX), complete };
}

/** A file of which nothing is known but why. */
export function unreadFile(why: Remark): ParsedFile {
  return { objects: [], malformed: [why], ignored: [], complete: false };
}

interface Found {
  readonly objects: ParsedObject[];
  readonly malformed: Remark[];
  readonly ignored: Remark[];
}

export interface ParsedDocument {
  readonly value: Json;
  readonly origin: Origin;
  readonly errors: readonly { readonly origin: Origin; readonly reason: string }[];
}

export type ParsedText =
  | { readonly documents: readonly ParsedDocument[] }
  | { readonly origin: Origin; readonly reason: string };

/** All documents of a text; empty ones (only comments, `---`) are left out. */
export function parseDocuments(file: string, text: string): ParsedText {
  const documents = parsePlain(file, text);
  return documents === undefined ? parseAnyYaml(file, text) : { documents };
}

/** As parseDocuments, in a fraction of its time; undefined if the text is not as plain as that. */
export function parsePlain(file: string, text: string): readonly ParsedDocument[] | undefined {
  const plain = plainJson(text) ?? plainDocuments(text, DOCUMENTS_MAX);
  return plain?.map(({ value, line }) => ({ value, origin: { file, line, column: 1 }, errors: [] }));
}

/** As parseDocuments, by the full parser: ten times slower, and with words for whatever is wrong. */
export function parseAnyYaml(file: string, text: string): ParsedText {
  const lines = new LineCounter();
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const documents: ParsedDocument[] = [];
  let count = 0;
  try {
    for (const document of composedDocuments(text, lines.addNewLine)) {
      if (++count > DOCUMENTS_MAX) return { origin: { file }, reason: `has more than ${DOCUMENTS_MAX} documents` };
      const read = readDocument(document, at);
      if (read.errors.length > 0 || read.value !== null) documents.push(read);
    }
    return { documents };
  } catch (error) {
    if (error instanceof YamlRefused) return { origin: at(error.offset), reason: error.message };
    return { origin: { file }, reason: messageOf(error) };
  }
}

function readDocument(document: Document.Parsed, at: (offset: number) => Origin): ParsedDocument {
  const start = isMap(document.contents) ? document.contents.range[0] : (document.range[0] ?? 0);
  const { value, errors } = documentValue(document);
  return { value, origin: at(start), errors: errors.map(({ offset, reason }) => ({ origin: at(offset), reason })) };
}

function decodeText(file: string, bytes: Uint8Array): string | { readonly origin: Origin; readonly reason: string } {
  const origin = { file };
  if (bytes.length > FILE_BYTES_MAX) return { origin, reason: tooLarge(bytes.length) };
  if (bytes.includes(0)) return { origin, reason: 'is a binary file (it has a NUL byte); expected YAML or JSON text' };
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { origin, reason: 'is not UTF-8 text; expected YAML or JSON' };
  }
}

export function tooLarge(bytes: number): string {
  return `is ${(bytes / 1024 / 1024).toFixed(1)} MiB large; the limit is ${FILE_BYTES_MAX / 1024 / 1024} MiB`;
}

const LIST = 'List';

/**
 * Takes a document apart: an object, a `List` of them, or one of an API server (`ServiceList`), whose items do not say
 * what they are.
 */
function collect(value: Json, origin: Origin, found: Found): void {
  if (isObject(value) && value.kind === 'List' && value.apiVersion === 'v1') {
    for (const item of Array.isArray(value.items) ? value.items : []) collect(item, origin, found);
    return;
  }
  const { apiVersion, kind, items } = isObject(value) ? value : {};
  if (typeof kind === 'string' && kind.endsWith(LIST) && Array.isArray(items)) {
    const said = { apiVersion, kind: kind.slice(0, -LIST.length) };
    for (const item of items) collect(isObject(item) ? { ...said, ...item } : item, origin, found);
    return;
  }
  const read = asObject(value);
  if (!('reason' in read)) found.objects.push({ ...read, origin });
  else (read.foreign ? found.ignored : found.malformed).push({ origin, reason: read.reason });
}

/** The identity of an object, or why it has none. Its content is judged by the core, not here. */
function asObject(
  value: Json,
): { readonly ref: ObjectRef; readonly object: RawObject } | { readonly reason: string; readonly foreign?: boolean } {
  if (!isObject(value)) return { reason: `expected a Kubernetes object, found ${describe(value)}` };
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') return { reason: 'apiVersion is missing' };
  if (typeof kind !== 'string' || kind === '') return { reason: 'kind is missing' };
  const definition = definitionOf(apiVersion, kind);
  if (definition === undefined) {
    const reason = `${apiVersion} ${kind} is not a kind that Periplus knows; the object is ignored`;
    return { reason, foreign: isForeign(apiVersion, kind) };
  }
  if (!isObject(metadata)) return { reason: `${kind}: metadata is missing` };
  const { name, namespace } = metadata;
  if (typeof name !== 'string' || name === '') return { reason: `${kind}: metadata.name is missing or not a string` };
  if (namespace !== undefined && namespace !== null && typeof namespace !== 'string') {
    return { reason: `${kind} ${name}: metadata.namespace must be a string` };
  }
  return {
    ref: { apiVersion, kind, namespace: definition.clusterScoped ? '' : namespace || 'default', name },
    object: value,
  };
}

/** The same object twice in one file: the first stands. */
function withoutRepeats({ objects, malformed }: Found): readonly ParsedObject[] {
  const first = new Map<string, ParsedObject>();
  for (const object of objects) {
    const { ref, origin } = object;
    const key = identity(ref);
    const known = first.get(key);
    if (known === undefined) {
      first.set(key, object);
      continue;
    }
    const where = known.origin.line ?? 1;
    malformed.push({
      origin,
      reason: `${ref.kind} ${ref.namespace}/${ref.name} stands already at line ${where}; the first one is used`,
    });
  }
  return [...first.values()];
}

/** What makes two documents the same object: group, kind, namespace, name; not the version. */
export function identity(ref: ObjectRef): string {
  const group = ref.apiVersion.includes('/') ? ref.apiVersion.slice(0, ref.apiVersion.indexOf('/')) : '';
  return `${group}/${ref.kind}/${ref.namespace}/${ref.name}`;
}

function describe(value: Json): string {
  if (value === null) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The fact names the file, each reason the place in it. */
export function malformedFact(
  origin: Origin,
  malformed: readonly Remark[],
  ignored: readonly Remark[],
): Fact & { readonly kind: 'Malformed' } {
  const reasons = malformed.map(placed);
  return { kind: 'Malformed', origin, reasons, ...(ignored.length === 0 ? {} : { ignored: ignored.map(placed) }) };
}

/** Nothing is wrong with the file any more. */
export function cleared(file: string): Fact {
  return { kind: 'Malformed', origin: { file }, reasons: [] };
}

export function placed({ origin, reason }: Remark): string {
  return `${origin.line ?? 1}:${origin.column ?? 1}: ${reason}`;
}
