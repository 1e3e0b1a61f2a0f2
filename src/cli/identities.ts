// periplus identities: who held which certificate, now or at any time before, and which requests were refused and why.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { identitiesAt } from '../history/identities.ts';
import { resolvePosition } from '../history/position.ts';
import { openJournal } from '../journal/open.ts';
import { parseFormat, print, printData, printTable, showTime } from './output.ts';
import { AT_HELP, journalOption } from './target.ts';

interface Flags {
  readonly journal: string;
  readonly at?: string;
  readonly expired: boolean;
  readonly refused: boolean;
  readonly output: string;
}

export function identitiesCommand(): Command {
  return new Command('identities')
    .description('list the certificates that were held, on whose word, and the requests that were refused')
    .argument('[part]', 'only identities that contain this', '')
    .option(...journalOption)
    .option('--at <position>', 'as it was then; default: now')
    .option('--expired', 'also certificates that had expired', false)
    .option('--refused', 'requests that were refused, with the reason', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', `\n${AT_HELP}\n\nExample:\n  periplus identities reviews --at 14:03`)
    .action(async (part: string, { journal: path, at, expired, refused, output }: Flags) => {
      const format = parseFormat(output);
      const journal = await openJournal(path, { readonly: true });
      try {
        const to = at === undefined ? journal.head().seq : await resolvePosition(journal, at);
        const found = await identitiesAt(journal, { to, part, expired });
        if (format !== 'table') return printData((refused ? found.refused : found.held) as unknown as Json, format);
        if (refused) showRefused(found.refused);
        else showHeld(found.held);
      } finally {
        await journal.close();
      }
    });
}

type Found = Awaited<ReturnType<typeof identitiesAt>>;

function showHeld(held: Found['held']): void {
  if (held.length === 0) {
    print('no certificate was held');
    return;
  }
  printTable(
    ['IDENTITY', 'SERIAL', 'ISSUED', 'NOT AFTER', 'PROVEN BY', 'EVENT'],
    held.map(one => [
      one.identities.join(' '),
      one.serial,
      showTime(one.issuedAt),
      showTime(one.notAfter),
      one.proof,
      String(one.seq),
    ]),
  );
}

function showRefused(refused: Found['refused']): void {
  if (refused.length === 0) {
    print('no request of a proven caller was refused');
    return;
  }
  printTable(
    ['CALLER', 'ASKED TO BE', 'AT', 'CODE', 'REASON', 'PROVEN BY', 'EVENT'],
    refused.map(one => [
      one.identities.join(' '),
      one.impersonated ?? '',
      showTime(one.at),
      one.code,
      one.reason,
      one.proof,
      String(one.seq),
    ]),
  );
}
