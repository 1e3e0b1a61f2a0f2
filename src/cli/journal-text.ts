// periplus journal export and import: a journal as lines of JSON, compressed or not, the whole or a range of it.

import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Command } from 'commander';
import { resolvePosition } from '../history/position.ts';
import { exportJournal } from '../journal/export.ts';
import type { Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import { importFile } from './exported-journal.ts';
import { parseFormat, print, printData } from './output.ts';
import { AT_HELP, journalOption } from './target.ts';

interface ExportFlags {
  readonly journal: string;
  readonly redact: boolean;
  readonly from?: string;
  readonly to?: string;
  readonly gzip: boolean;
  readonly file?: string;
}

export function exportCommand(): Command {
  return new Command('export')
    .description('write the journal as JSON lines')
    .option(...journalOption)
    .option('--redact', 'replace private keys and tokens by placeholders of the same shape, and re-chain', false)
    .option('--from <position>', 'begin at the last snapshot up to there, and with it, so that nothing is missing')
    .option('--to <position>', 'end with this event')
    .option('--file <file>', 'write to a file, compressed if its name ends in .gz; default: standard output')
    .option('--gzip', 'compress standard output, too', false)
    .addHelpText(
      'after',
      `
${AT_HELP}

Examples:
  periplus journal export --redact --file bug-report.jsonl.gz
  periplus journal export --from 13:30 --to 14:30 > incident.jsonl`,
    )
    .action(async (flags: ExportFlags) => {
      const journal = await openJournal(flags.journal, { readonly: true });
      try {
        const range = { from: await positionIn(journal, flags.from), to: await positionIn(journal, flags.to) };
        await write(exportJournal(journal, { redact: flags.redact, ...range }), flags);
      } finally {
        await journal.close();
      }
    });
}

async function positionIn(journal: Journal, text: string | undefined): Promise<number | undefined> {
  return text === undefined ? undefined : resolvePosition(journal, text);
}

async function write(lines: AsyncIterable<string>, { file, gzip }: ExportFlags): Promise<void> {
  const compressed = gzip || file?.endsWith('.gz') === true;
  if (file === undefined && !compressed) {
    for await (const line of lines) print(line);
    return;
  }
  // Never over a file that is there: it may be the only copy of something.
  const to: Writable = file === undefined ? process.stdout : createWriteStream(file, { flags: 'wx' });
  const text = Readable.from(withNewlines(lines));
  const end = file !== undefined;
  if (compressed) await pipeline(text, createGzip(), to, { end });
  else await pipeline(text, to, { end });
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

export function importCommand(): Command {
  return new Command('import')
    .description('make a journal from exported JSON lines; the chain is verified on the way')
    .argument('<lines>', 'file written by `periplus journal export`, compressed or not')
    .requiredOption('-j, --journal <file>', 'journal to make; must not exist')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (lines: string, options: { journal: string; output: string }) => {
      const format = parseFormat(options.output);
      const head = await importFile(lines, options.journal);
      const made = await openJournal(options.journal, { readonly: true });
      const events = head.seq - made.base().seq;
      await made.close();
      if (format === 'table') print(`imported ${events} events into ${options.journal}`);
      else printData({ journal: options.journal, events, head: head.seq }, format);
    });
}
