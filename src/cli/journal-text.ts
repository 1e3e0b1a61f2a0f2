// periplus journal export and import: a journal as lines of JSON, compressed or not, the whole or a range of it.

import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Command } from 'commander';
import { resolvePosition } from '../history/position.ts';
import { exportJournal } from '../journal/export.ts';
import { importJournal } from '../journal/import.ts';
import type { Head, Journal } from '../journal/journal.ts';
import { linesOf } from '../journal/lines.ts';
import { openJournal } from '../journal/open.ts';
import { CliError, parseFormat, print, printData } from './output.ts';
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

/** Makes the journal `path` of exported lines, compressed or not. */
export async function importFile(lines: string, path: string): Promise<Head> {
  // A file that cannot be opened fails here, before there is a stream to fail unheard.
  const compressed = await isGzip(lines);
  const file = createReadStream(lines);
  const input = compressed ? file.pipe(createGunzip()) : file;
  const failed = new Promise<never>((_, reject) => {
    file.once('error', reject);
    input.once('error', (error: Error) => reject(new CliError(`${lines}: not a whole gzip file (${error.message})`)));
  });
  // A stream that is left early would fail of that, and hide why it was left.
  const text = linesOf(input.setEncoding('utf8').iterator({ destroyOnReturn: false }));
  return Promise.race([importJournal(path, text), failed]).finally(() => file.destroy());
}

const GZIP_MAGIC = 0x1f8b;

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === GZIP_MAGIC;
  } finally {
    await file.close();
  }
}
