// periplus journal ls|show|verify|stats|export|import: looking into a journal. Reads only; works beside a running
// control plane.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { compactCommand } from './journal-compact.ts';
import { seqOf, toJson, withJournal } from './journal-file.ts';
import { lsCommand } from './journal-ls.ts';
import { moveCommand } from './journal-move.ts';
import { statsCommand } from './journal-stats.ts';
import { exportCommand, importCommand } from './journal-text.ts';
import { CliError, EXIT, parseFormat, print, printData, progress } from './output.ts';
import { journalOption } from './target.ts';

export function journalCommand(): Command {
  const command = new Command('journal').description(
    'look into a journal: list, show, verify and count events, export and import them, forget old ones, share them with replicas',
  );
  command.addCommand(lsCommand());
  command.addCommand(showCommand());
  command.addCommand(verifyCommand());
  command.addCommand(statsCommand());
  command.addCommand(compactCommand());
  command.addCommand(exportCommand());
  command.addCommand(importCommand());
  command.addCommand(moveCommand());
  return command;
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
