// A journal as text: a header line, one line an event, an end line. It can be read, searched, attached to a bug report, and turned into
// a journal file again (import.ts) with the same chain.
//
// A redacted export holds placeholders instead of private values and a chain of its own over what it holds; its header says so.

import { canonicalJson } from '../core/json.ts';
import { chainHash } from './chain.ts';
import type { ChainPoint, Journal, StoredEvent } from './journal.ts';

export const EXPORT_FORMAT = 'periplus-journal';
export const EXPORT_VERSION = 1;

export interface ExportHeader {
  readonly format: typeof EXPORT_FORMAT;
  readonly version: number;
  readonly redacted: boolean;
  /** Where the chain starts; the first event has the next seq. */
  readonly start: ChainPoint;
  /** Which key the sealed values open with; absent if nothing was sealed, or redacted. */
  readonly keyCheck?: string;
}

export interface ExportEnd {
  readonly end: ChainPoint;
}

/** Lines without their newline. The journal may grow meanwhile; what was committed at the call is exported. Faults: `damaged`. */
export async function* exportJournal(journal: Journal, options: { readonly redact: boolean }): AsyncGenerator<string> {
  const start = journal.base();
  const to = journal.head().seq;
  const keyCheck = options.redact ? undefined : journal.keyCheck();
  const header: ExportHeader = {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    redacted: options.redact,
    start,
    ...(keyCheck === undefined ? {} : { keyCheck }),
  };
  yield canonicalJson({ ...header, start: { ...start } });
  let hash = start.hash;
  const secrets = options.redact ? 'redacted' : 'sealed';
  for await (const page of journal.records({ from: start.seq + 1, to, secrets })) {
    for (const stored of page) {
      hash = options.redact ? rechained(hash, stored) : stored.hash;
      yield eventLine(stored, hash);
    }
  }
  yield canonicalJson({ end: { seq: to, hash } } satisfies ExportEnd);
}

function rechained(previous: string, event: StoredEvent): string {
  const { seq, time, source, kind, body } = event;
  return chainHash(Buffer.from(previous, 'hex'), seq, time, source, kind, body).toString('hex');
}

/** The body is put in as it is stored, so that the line holds the very text that was hashed. */
function eventLine({ seq, time, source, kind, body }: StoredEvent, hash: string): string {
  const [sourceText, kindText] = [canonicalJson(source), canonicalJson(kind)];
  return `{"seq":${seq},"time":${time},"source":${sourceText},"kind":${kindText},"body":${body},"hash":"${hash}"}`;
}
