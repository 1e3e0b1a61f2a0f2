// periplus journal compact: forget the oldest events, keep everything that can be asked of the rest.

import { Command } from 'commander';
import { compactTo, cutOf, type Retention } from '../history/retention.ts';
import { openJournal } from '../journal/open.ts';
import { CliError, EXIT, parseFormat, print, printData, progress } from './output.ts';
import { journalOption } from './target.ts';

const TIME_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const SIZE: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9 };

interface Flags {
  readonly journal: string;
  readonly keep?: string;
  readonly keepEvents?: string;
  readonly keepSize?: string;
  readonly dryRun: boolean;
  readonly output: string;
}

export function compactCommand(): Command {
  return new Command('compact')
    .description('forget the oldest events; a snapshot takes their place')
    .option(...journalOption)
    .option('--keep <time>', 'keep events of this age and younger, e.g. 30m, 12h, 7d, 4w')
    .option('--keep-events <n>', 'keep at most this many events')
    .option('--keep-size <size>', 'keep at most this many bytes, e.g. 500MB')
    .option('--dry-run', 'print what would be deleted, and delete nothing', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
The control plane that writes the journal must be stopped. Every position from the first event kept on can be asked as before; receipts of older
states cannot be verified any more. Whenever it is interrupted, the journal is whole; run it again.

Example:
  periplus journal compact --keep 7d --keep-size 1GB`,
    )
    .action(async (flags: Flags) => {
      const retention = retentionOf(flags);
      const format = parseFormat(flags.output);
      const journal = await openJournal(flags.journal, { readonly: flags.dryRun });
      try {
        const cut = await cutOf(journal, retention);
        const { first, removed } = cut ?? { first: journal.base().seq + 1, removed: 0 };
        const kept = journal.head().seq - first + 1;
        if (cut !== undefined && !flags.dryRun) {
          const line = progress('forgetting');
          await compactTo(journal, cut, line.show);
          line.end();
        }
        if (format !== 'table') return printData({ removed, first, kept, dryRun: flags.dryRun }, format);
        if (cut === undefined) return print('nothing goes: every event is within the limits');
        const what = `${removed} events before event ${first}`;
        if (flags.dryRun) return print(`would forget ${what}`);
        return print(`forgot ${what}; the journal holds ${kept} events and the state before them`);
      } finally {
        await journal.close();
      }
    });
}

function retentionOf({ keep, keepEvents, keepSize }: Flags): Retention {
  if (keep === undefined && keepEvents === undefined && keepSize === undefined)
    throw new CliError('say what to keep: --keep, --keep-events or --keep-size', EXIT.misuse);
  const age = keptTime('--keep', keep);
  const events = keepEvents === undefined ? undefined : Number(keepEvents);
  if (events !== undefined && !(Number.isInteger(events) && events > 0))
    throw new CliError(`--keep-events ${keepEvents}: expected a whole number from 1`, EXIT.misuse);
  return {
    ...(age === undefined ? {} : { since: Date.now() - age }),
    ...(events === undefined ? {} : { events }),
    ...(keepSize === undefined ? {} : { chars: measured('--keep-size', keepSize, SIZE, '500MB')! }),
  };
}

/** `30m`, `12h`, `7d`, `4w` in milliseconds. */
export function keptTime(flag: string, text: string | undefined): number | undefined {
  return measured(flag, text, TIME_MS, '7d');
}

function measured(
  flag: string,
  text: string | undefined,
  units: Readonly<Record<string, number>>,
  example: string,
): number | undefined {
  if (text === undefined) return undefined;
  const [, number, unit = ''] = /^([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)$/.exec(text) ?? [];
  const size = units[unit];
  if (number === undefined || size === undefined)
    throw new CliError(
      `${flag} ${text}: expected a number and one of ${Object.keys(units).join(', ')}, e.g. ${example}`,
      EXIT.misuse,
    );
  return Number(number) * size;
}
