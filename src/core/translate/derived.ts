// Objects that a translation makes: of the kinds that the generators know, never stored and never journalled.
//
// Invariant: equal content is one object, however often a translation runs again, so that nothing above it runs. The
// memo finds it by its canonical text; an object is small beside what is generated from it.

import { canonicalJson, type Json } from '../base/json.ts';
import type { KindSpecs } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { Generator } from '../query/memo.ts';
import type { Reader } from '../query/reader.ts';

/** The kinds that other APIs are translated into. */
export type DerivedKind = 'DestinationRule' | 'Gateway' | 'VirtualService';

export interface DerivedMeta {
  readonly namespace: string;
  readonly name: string;
  /** 0 for objects that count as the oldest. */
  readonly creationTime: number;
  readonly annotations: Readonly<Record<string, string>>;
}

export function derivedObject<K extends DerivedKind>(
  reader: Reader,
  kind: K,
  meta: DerivedMeta,
  spec: KindSpecs[K],
): Obj<K> {
  const cluster = reader.setting('clusterId');
  const object = { kind, cluster, ...meta, labels: {}, resourceVersion: '', uid: '', spec };
  return oneOf(reader, object);
}

/** One object for all equal values of plain data. */
export function oneOf<T>(reader: Reader, value: T): T {
  return reader.make(oneOfEqual, { text: canonicalJson(value as Json) }) as T;
}

const oneOfEqual: Generator<{ readonly text: string }, unknown> = {
  name: 'translate/oneOfEqual',
  run: ({ text }) => JSON.parse(text),
};
