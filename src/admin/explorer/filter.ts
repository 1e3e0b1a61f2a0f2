// Which events a question about the timeline wants. A filter is compiled to one table a column, so that a million
// events are tried in milliseconds.

import { objectNamed } from '../../history/object-name.ts';
import type { EventIndex } from './event-index.ts';

/** Any one of each list; all words. */
export interface EventFilter {
  readonly kinds: readonly string[];
  readonly sources: readonly string[];
  readonly managers: readonly string[];
  readonly namespaces: readonly string[];
  /** `Kind/namespace/name` */
  readonly objects: readonly string[];
  readonly words: readonly string[];
}

/** Words of a search; more are ignored. */
export const WORDS_MAX = 8;

export function filterOf(query: URLSearchParams): EventFilter {
  const words = (query.get('text') ?? '').toLowerCase().split(/\s+/);
  return {
    kinds: query.getAll('kind'),
    sources: query.getAll('source'),
    managers: query.getAll('manager'),
    namespaces: query.getAll('namespace'),
    objects: query.getAll('object').map(objectNamed),
    words: words.filter(word => word !== '').slice(0, WORDS_MAX),
  };
}

export function isEmpty(filter: EventFilter): boolean {
  return Object.values(filter).every((list: readonly string[]) => list.length === 0);
}

/** Whether the indexed event of that number passes. */
export function compiled(index: EventIndex, filter: EventFilter): (seq: number) => boolean {
  if (isEmpty(filter)) return () => true;
  const { kinds, sources, managers, subjects, namespaces, namespaceOf, isObject, columns, first, refusals } = index;
  const kindOk = tableOf(filter.kinds, kinds.chosen(listed(filter.kinds)));
  const sourceOk = tableOf(filter.sources, sources.chosen(listed(filter.sources)));
  const managerOk = tableOf(filter.managers, managers.chosen(listed(filter.managers)));
  const namespaceOk = tableOf(filter.namespaces, namespaces.chosen(listed(filter.namespaces)));
  const objectOk = tableOf(filter.objects, subjects.chosen(listed(filter.objects)));
  const words = filter.words.map(word => {
    const has = (text: string): boolean => text.toLowerCase().includes(word);
    return {
      word,
      kind: kinds.chosen(has),
      source: sources.chosen(has),
      manager: managers.chosen(has),
      subject: subjects.chosen(has),
    };
  });
  return seq => {
    const slot = seq - first;
    const kind = columns.kind[slot]!;
    const source = columns.source[slot]!;
    const manager = columns.manager[slot]!;
    const subject = columns.subject[slot]!;
    if (kindOk !== undefined && kindOk[kind] !== 1) return false;
    if (sourceOk !== undefined && sourceOk[source] !== 1) return false;
    if (managerOk !== undefined && managerOk[manager] !== 1) return false;
    if (namespaceOk !== undefined && namespaceOk[namespaceOf[subject] ?? 0] !== 1) return false;
    if (objectOk !== undefined && (objectOk[subject] !== 1 || isObject[subject] !== true)) return false;
    return words.every(
      one =>
        one.kind[kind] === 1 ||
        one.source[source] === 1 ||
        one.manager[manager] === 1 ||
        one.subject[subject] === 1 ||
        refusals.get(seq)?.includes(one.word) === true,
    );
  };
}

function listed(names: readonly string[]): (text: string) => boolean {
  const wanted = new Set(names);
  return text => wanted.has(text);
}

/** Undefined: all pass. */
function tableOf(names: readonly string[], table: Uint8Array): Uint8Array | undefined {
  return names.length === 0 ? undefined : table;
}
