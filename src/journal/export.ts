// A journal as text: a header line, one line for each event, an end line. It can be read, searched, attached to a bug
// report, and turned into a journal file with the same chain again (import.ts).
//
// A redacted export has placeholders instead of private values and a chain of its own over its content; its header says
// so. An export that does not begin with the first event carries the snapshot at its start, without which later changes
// would refer to unknown objects.

import { createHash } from 'node:crypto';
import { canonicalJson } from '../core/base/json.ts';
import { chainHash } from './chain.ts';
import { JournalFault } from './fault.ts';
import type { ChainPoint, Journal, StoredEvent } from './journal.ts';

export const EXPORT_FORMAT = 'periplus-journal';
/** Format of an export with a snapshot. */
export const EXPORT_VERSION = 2;
/** Format of an export without one, which the first release can read, too. */
const WHOLE_VERSION = 1;

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

export interface ExportOptions {
  readonly redact: boolean;
  /** Begin at the last snapshot up to this event; default, and if there is none: at the first event. */
  readonly from?: number;
  /** The last event; default: the head at the time of the call. */
  readonly to?: number;
}

/**
 * Lines without their newline. The journal may grow meanwhile. Faults: `damaged`, `no-such-seq` if nothing stands in
 * the range.
 */
export async function* exportJournal(journal: Journal, options: ExportOptions): AsyncGenerator<string> {
  const { seq: head } = journal.head();
  const to = Math.min(options.to ?? head, head);
  const first = await firstOf(journal, options.from);
  if (to < first && head >= first) {
    throw new JournalFault(
      'no-such-seq',
      `nothing to export: the range ends at ${to}, and the first event it can begin with is ${first}`,
      {
        path: journal.path,
      },
    );
  }
  const start = await chainPoint(journal, first - 1);
  const secrets = options.redact ? 'redacted' : 'sealed';
  const keyCheck = options.redact ? undefined : journal.keyCheck();
  const header: ExportHeader = {
    format: EXPORT_FORMAT,
    version: start.seq > 0 ? EXPORT_VERSION : WHOLE_VERSION,
    redacted: options.redact,
    start,
    ...(keyCheck === undefined ? {} : { keyCheck }),
  };
  yield canonicalJson({ ...header, start: { ...start } });
  if (start.seq > 0) yield* snapshotLines(journal, first, secrets);
  let hash = start.hash;
  for await (const page of journal.records({ from: first, to, secrets })) {
    for (const stored of page) {
      hash = options.redact ? rechained(hash, stored) : stored.hash;
      yield eventLine(stored, hash);
    }
  }
  yield canonicalJson({ end: { seq: to, hash } } satisfies ExportEnd);
}

async function firstOf(journal: Journal, from: number | undefined): Promise<number> {
  const first = journal.base().seq + 1;
  if (from === undefined) return first;
  const snapshots = await journal.snapshots.list();
  return Math.max(first, snapshots.filter(({ seq }) => seq <= from).at(-1)?.seq ?? first);
}

async function chainPoint(journal: Journal, seq: number): Promise<ChainPoint> {
  if (seq === journal.base().seq) return journal.base();
  for await (const [event] of journal.records({ from: seq, to: seq })) {
    return { seq, hash: event!.hash };
  }
  throw new JournalFault('damaged', 'this event is missing', { path: journal.path, seq });
}

/** The snapshot's columns, its facts, and a hash over their lines, since the chain does not cover them. */
async function* snapshotLines(journal: Journal, seq: number, secrets: 'sealed' | 'redacted'): AsyncGenerator<string> {
  const snapshot = await journal.snapshots.read(seq, secrets);
  if (snapshot?.info.seq !== seq) {
    throw new JournalFault('damaged', 'the journal begins here, and the snapshot that it needs is missing', {
      path: journal.path,
      seq,
    });
  }
  yield canonicalJson({ snapshot: { seq, format: snapshot.info.format } });
  const hash = createHash('sha256');
  for await (const page of snapshot.facts) {
    for (const { source, fact } of page) {
      const line = canonicalJson({ source, fact });
      hash.update(`${line}\n`);
      yield line;
    }
  }
  yield canonicalJson({ snapshotHash: hash.digest('hex') });
}

function rechained(previous: string, event: StoredEvent): string {
  const { seq, time, source, kind, body } = event;
  return chainHash(Buffer.from(previous, 'hex'), seq, time, source, kind, body).toString('hex');
}

/** The body is inserted as stored, so that the line contains the text that was hashed. */
function eventLine({ seq, time, source, kind, body }: StoredEvent, hash: string): string {
  const [sourceText, kindText] = [canonicalJson(source), canonicalJson(kind)];
  return `{"seq":${seq},"time":${time},"source":${sourceText},"kind":${kindText},"body":${body},"hash":"${hash}"}`;
}
