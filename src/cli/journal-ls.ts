// periplus journal ls: events of a journal, page by page, so that a million cost no more memory than a page; and
// those to come, with --follow.
//
// On a terminal the newest are listed unless a range is given: what happened last is what people ask first. A kind or
// an object of which the journal has no event is an error, with the nearest names.

import { Command } from 'commander';
import type { JsonObject } from '../core/base/json.ts';
import type { Event } from '../core/event.ts';
import { partsOfName } from '../core/model/object.ts';
import { eventSummary, objectOfBody } from '../history/event-summary.ts';
import { nearestText } from '../history/nearest.ts';
import { objectNamed } from '../history/object-name.ts';
import { resolvePosition } from '../history/position.ts';
import type { Journal, StoredEvent } from '../journal/journal.ts';
import { seqOf, toJson, withJournal } from './journal-file.ts';
import { CliError, type OutputFormat, parseFormat, print, printData, showTime, tell } from './output.ts';
import { columnWidths, fitted, lineOf } from './table.ts';
import { journalOption } from './target.ts';
import { coloured, hasColour, oneLine, widthOf } from './terminal.ts';

/** Events that a terminal gets without a range. */
const TAIL_DEFAULT = 50;
const HEAD: readonly string[] = ['SEQ', 'TIME', 'SOURCE', 'KIND', 'WHAT'];

const KINDS: Readonly<Record<Event['kind'], true>> = {
  Add: true,
  Update: true,
  Delete: true,
  Synced: true,
  Malformed: true,
  MeshConfig: true,
  MeshNetworks: true,
  Engine: true,
  TimerFired: true,
  Rejected: true,
  Gap: true,
  WorldEntry: true,
  Interned: true,
  ProxyConnected: true,
  Names: true,
  ProxySubscribed: true,
  ProxyNacked: true,
  ProxyDisconnected: true,
  Receipt: true,
  CertificateIssued: true,
  CertificateRefused: true,
};

/** Period of a timer without work: its existence keeps the process alive. */
const ALIVE_MS = 60_000;

interface Flags {
  readonly journal: string;
  readonly from?: string;
  readonly to?: string;
  readonly tail?: string;
  readonly kind?: string;
  readonly object?: string;
  readonly follow: boolean;
  readonly output: string;
}

export function lsCommand(): Command {
  return new Command('ls')
    .description('list events, oldest first')
    .option(...journalOption)
    .option('--from <position>', 'first event; a number, or a time')
    .option('--to <position>', 'last event; default: the newest')
    .option('--tail <n>', `only the newest n of those wanted; on a terminal without a range ${TAIL_DEFAULT}`)
    .option('-f, --follow', 'go on with events to come, until interrupted', false)
    .option('--kind <kind>', 'only facts of this kind, e.g. Update or ProxyNacked')
    .option('--object <object>', 'only about this object: Kind/namespace/name, or vs/shop/reviews')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      '\nExamples:\n  periplus journal ls --tail 20\n  periplus journal ls --follow --kind ProxyNacked\n  periplus journal ls --kind Update -o json\n  periplus journal ls --object vs/shop/reviews      who changed it, and when',
    )
    .action((flags: Flags) => withJournal(flags.journal, journal => list(journal, flags)));
}

interface Wanted {
  readonly kind?: string;
  /** `Kind namespace/name` */
  readonly object?: string;
}

async function list(journal: Journal, flags: Flags): Promise<void> {
  const format = parseFormat(flags.output);
  if (flags.follow && format !== 'table') throw new CliError('--follow prints lines: without -o');
  const wanted = wantedOf(flags);
  const head = journal.head().seq;
  const from = flags.from === undefined ? 1 : await firstFrom(journal, flags.from);
  const to = flags.to === undefined ? head : await resolvePosition(journal, flags.to);
  const tail = tailOf(flags, format);
  const printer = format === 'table' ? new Lines() : undefined;
  const all: JsonObject[] = [];
  let found = 0;
  for await (const page of wantedPages(journal, { from, to }, wanted, tail)) {
    found += page.length;
    if (printer === undefined) all.push(...page.map(({ event }) => toJson(event)));
    else printer.add(page);
  }
  if (printer === undefined) printData(all, format as 'json' | 'yaml');
  if (found === 0 && !flags.follow) await failOnNothing(journal, wanted, flags);
  if (flags.follow) await follow(journal, to + 1, wanted, printer ?? new Lines());
}

function wantedOf({ kind, object }: Flags): Wanted {
  if (kind !== undefined && !Object.hasOwn(KINDS, kind)) {
    const near = nearestText(kind, Object.keys(KINDS));
    throw new CliError(
      `--kind ${kind}: there is no such kind of fact${near || `; there are ${Object.keys(KINDS).join(', ')}`}`,
    );
  }
  if (object === undefined) return kind === undefined ? {} : { kind };
  const { kind: word, namespace, name } = partsOfName(objectNamed(object));
  const named = `${word} ${namespace === '' ? '' : `${namespace}/`}${name}`;
  return kind === undefined ? { object: named } : { kind, object: named };
}

/** Events *from* a time on are those after the last one before it. */
async function firstFrom(journal: Journal, text: string): Promise<number> {
  if (/^[0-9]+$/.test(text)) return seqOf(text);
  const seq = await resolvePosition(journal, text, 'clamped');
  return /^head/i.test(text) ? seq : seq + 1;
}

function tailOf({ tail, from, to, kind, object }: Flags, format: OutputFormat): number | undefined {
  if (tail !== undefined) return seqOf(tail);
  const ranged = from !== undefined || to !== undefined || kind !== undefined || object !== undefined;
  return process.stdout.isTTY && format === 'table' && !ranged ? TAIL_DEFAULT : undefined;
}

interface Parsed {
  readonly event: StoredEvent;
  readonly body: JsonObject;
}

/** `tail`: only the newest that are wanted; then they are one page. */
async function* wantedPages(
  journal: Journal,
  range: { readonly from: number; readonly to: number },
  wanted: Wanted,
  tail: number | undefined,
): AsyncGenerator<readonly Parsed[]> {
  if (range.from > range.to) return;
  const plain = wanted.kind === undefined && wanted.object === undefined;
  const from = tail !== undefined && plain ? Math.max(range.from, range.to - tail + 1) : range.from;
  let newest: Parsed[] = [];
  for await (const page of journal.records({ from, to: range.to, secrets: 'redacted' })) {
    const kept = page
      .filter(event => mayBe(event, wanted))
      .map(parsed)
      .filter(one => isWanted(one, wanted));
    if (tail === undefined) yield kept;
    else newest = [...newest, ...kept].slice(-tail);
  }
  if (tail !== undefined) yield newest;
}

/** Before anything is parsed. */
function mayBe(event: StoredEvent, { kind, object }: Wanted): boolean {
  if (kind !== undefined && event.kind !== kind) return false;
  return object === undefined || event.body.includes(object.split(/[ /]/).at(-1)!);
}

function parsed(event: StoredEvent): Parsed {
  return { event, body: JSON.parse(event.body) as JsonObject };
}

function isWanted({ body }: Parsed, { object }: Wanted): boolean {
  return object === undefined || objectOfBody(body) === object;
}

/** Says why nothing is listed. */
async function failOnNothing(journal: Journal, { kind, object }: Wanted, flags: Flags): Promise<void> {
  if (flags.output === 'table' && flags.from === undefined && flags.to === undefined && object !== undefined) {
    const names = new Set<string>();
    for await (const page of journal.records({ from: 1, to: journal.head().seq, secrets: 'redacted' })) {
      for (const event of page) {
        if (event.kind !== 'Add' && event.kind !== 'Delete') continue;
        const name = objectOfBody(JSON.parse(event.body) as JsonObject);
        if (name !== undefined) names.add(name);
      }
    }
    throw new CliError(`no event of ${journal.path} is about ${object}${nearestText(object, names)}`);
  }
  const what = [kind, object].filter(part => part !== undefined).join(' about ');
  tell(`no event${what === '' ? '' : ` ${what}`} in the range; the journal ends at ${journal.head().seq}`);
}

async function follow(journal: Journal, from: number, wanted: Wanted, lines: Lines): Promise<void> {
  // The events themselves hold private values: they are only the sign that there is more to list.
  const following = journal.follow(from, async events => {
    const [first, last] = [events[0]?.seq, events.at(-1)?.seq];
    if (first === undefined || last === undefined) return;
    for await (const page of wantedPages(journal, { from: first, to: last }, wanted, undefined)) lines.add(page);
  });
  process.once('SIGINT', () => void following.stop());
  // The journal's own timer does not keep the process alive.
  const alive = setInterval(() => undefined, ALIVE_MS);
  try {
    await following.done;
  } finally {
    clearInterval(alive);
  }
}

/** Lines of a table whose columns are as wide as the first page needs; later pages may widen them. */
class Lines {
  readonly #width = widthOf();
  #widths: readonly number[] | undefined;

  add(page: readonly Parsed[]): void {
    if (page.length === 0) return;
    const rows = page.map(({ event: { seq, time, source, kind }, body }) => [
      String(seq),
      showTime(time),
      oneLine(source),
      oneLine(kind),
      oneLine(eventSummary(body)),
    ]);
    const needed = columnWidths(HEAD, rows);
    const first = this.#widths === undefined;
    const widths = needed.map((width, i) => Math.max(width, this.#widths?.[i] ?? 0));
    this.#widths = widths;
    const fit = fitted(widths, this.#width);
    if (first) print(coloured(lineOf(HEAD, fit), 'dim', hasColour()));
    print(rows.map(row => lineOf(row, fit)).join('\n'));
  }
}
