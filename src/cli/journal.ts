// periplus journal ls|show|verify|stats|export|import: looking into a journal. Reads only; works beside a running control plane.

import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { managerOf } from '../history/last-change.ts';
import { resolvePosition } from '../history/position.ts';
import type { Journal, StoredEvent } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import { compactCommand } from './journal-compact.ts';
import { statsCommand } from './journal-stats.ts';
import { exportCommand, importCommand } from './journal-text.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable, progress, showTime } from './output.ts';
import { journalOption } from './target.ts';

export function journalCommand(): Command {
  const command = new Command('journal').description(
    'look into a journal: list, show, verify and count events, export and import them, forget old ones',
  );
  command.addCommand(lsCommand());
  command.addCommand(showCommand());
  command.addCommand(verifyCommand());
  command.addCommand(statsCommand());
  command.addCommand(compactCommand());
  command.addCommand(exportCommand());
  command.addCommand(importCommand());
  return command;
}

interface ListFlags {
  readonly journal: string;
  readonly from?: string;
  readonly to?: string;
  readonly tail?: string;
  readonly kind?: string;
  readonly object?: string;
  readonly output: string;
}

function isWanted(event: StoredEvent, { kind, object }: ListFlags): boolean {
  if (kind !== undefined && event.kind !== kind) return false;
  if (object === undefined) return true;
  const name = object.slice(object.lastIndexOf('/') + 1);
  return event.body.includes(name) && summary(event).split(',')[0] === object.replace(/\/\/?/, ' ');
}

/** Events *from* a time on are those after the last one before it. */
async function firstFrom(journal: Journal, text: string): Promise<number> {
  if (/^[0-9]+$/.test(text)) return seqOf(text);
  const seq = await resolvePosition(journal, text);
  return /^head/i.test(text) ? seq : seq + 1;
}

function lsCommand(): Command {
  return new Command('ls')
    .description('list events, oldest first')
    .option(...journalOption)
    .option('--from <position>', 'first event; a number, or a time')
    .option('--to <position>', 'last event; default: the newest')
    .option('--tail <n>', 'only the newest n events')
    .option('--kind <kind>', 'only facts of this kind, e.g. Update or ProxyNacked')
    .option('--object <object>', 'only about this object: Kind/namespace/name')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      '\nExamples:\n  periplus journal ls --tail 20\n  periplus journal ls --kind Update -o json\n  periplus journal ls --object VirtualService/shop/reviews      who changed it, and when',
    )
    .action(async (options: ListFlags) => {
      const format = parseFormat(options.output);
      await withJournal(options.journal, async journal => {
        const head = journal.head().seq;
        const first = options.from === undefined ? 1 : await firstFrom(journal, options.from);
        const from = options.tail === undefined ? first : Math.max(first, head - seqOf(options.tail) + 1);
        const to = options.to === undefined ? head : await resolvePosition(journal, options.to);
        const found: StoredEvent[] = [];
        if (from <= to) {
          for await (const page of journal.records({ from, to, secrets: 'redacted' })) {
            found.push(...page.filter(event => isWanted(event, options)));
          }
        }
        if (format !== 'table') return printData(found.map(toJson), format);
        printTable(
          ['SEQ', 'TIME', 'SOURCE', 'KIND', 'WHAT'],
          found.map(event => [String(event.seq), showTime(event.time), event.source, event.kind, summary(event)]),
        );
      });
    });
}

function showCommand(): Command {
  return new Command('show')
    .description('show one event as it was recorded; private values are redacted')
    .argument('<seq>', 'number of the event')
    .option(...journalOption)
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action(async (seq: string, options: { journal: string; output: string }) => {
      const format = parseFormat(options.output);
      await withJournal(options.journal, async journal => {
        const wanted = seqOf(seq);
        for await (const page of journal.records({ from: wanted, to: wanted, secrets: 'redacted' })) {
          const event = page[0];
          if (event !== undefined) return printData(toJson(event), format === 'json' ? 'json' : 'yaml');
        }
        throw new CliError(`there is no event ${wanted}; the journal ends at ${journal.head().seq}`);
      });
    });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('check the hash chain, the numbering and the snapshots; exit 1 if anything is wrong')
    .option(...journalOption)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { journal: string; output: string }) => {
      const format = parseFormat(options.output);
      await withJournal(options.journal, async journal => {
        const line = progress('verifying');
        const verdict = await journal.verify(line.show);
        line.end();
        if (format !== 'table') printData(verdict as unknown as Json, format);
        else {
          for (const finding of verdict.findings) print(`${finding.kind}: ${finding.message}`);
          const what = `${verdict.events} events, ${verdict.snapshots} snapshots, head ${verdict.head.seq} ${verdict.head.hash.slice(0, 16)}`;
          print(verdict.ok ? `ok: ${what}` : `DAMAGED: ${verdict.findings.length} findings in ${what}`);
        }
        if (!verdict.ok) process.exitCode = EXIT.failed;
      });
    });
}

/** Opens for reading, closes whatever happens. */
export async function withJournal<T>(path: string, use: (journal: Journal) => Promise<T>): Promise<T> {
  const journal = await openJournal(path, { clock: Date.now, readonly: true });
  try {
    return await use(journal);
  } finally {
    await journal.close();
  }
}

export function seqOf(text: string): number {
  const seq = Number(text);
  if (!Number.isInteger(seq) || seq < 1)
    throw new CliError(`${JSON.stringify(text)}: expected a whole number from 1`, EXIT.misuse);
  return seq;
}

function toJson(event: StoredEvent): JsonObject {
  const { seq, time, source, kind, hash } = event;
  return { seq, time: showTime(time), source, kind, ...(JSON.parse(event.body) as JsonObject), hash };
}

/** The one thing that tells an event from the next: object, file, connection. */
function summary(event: StoredEvent): string {
  const body = JSON.parse(event.body) as JsonObject;
  if (isObject(body.object)) {
    const meta = isObject(body.object.metadata) ? body.object.metadata : {};
    const name = `${String(body.object.kind)} ${[meta.namespace, meta.name].filter(part => part !== undefined).join('/')}`;
    const manager = managerOf(body.object);
    return manager === '' ? name : `${name}, by ${manager}`;
  }
  if (isObject(body.ref)) {
    const { kind, namespace, name } = body.ref;
    return `${String(kind)} ${[namespace, name].filter(part => part !== undefined && part !== '').join('/')}`;
  }
  if (isObject(body.origin)) return String(body.origin.file);
  const parts = [body.connection, body.typeUrl, body.digest, body.name, body.reason, body.message];
  if (Array.isArray(body.connections)) parts.unshift(`${body.connections.length} proxies at ${String(body.stateSeq)}`);
  return parts
    .filter(part => typeof part === 'string')
    .map(part => part.replace('type.googleapis.com/', '').slice(0, 80))
    .join(' ');
}
