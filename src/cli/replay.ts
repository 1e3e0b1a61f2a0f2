// periplus replay: fold the journal from its first event; with --verify make everything that was sent anew and compare.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { resolvePosition } from '../history/position.ts';
import { type ReplayReport, replay } from '../offline/verify-receipts.ts';
import { withJournal } from './journal-file.ts';
import { EXIT, parseFormat, print, printData, progress } from './output.ts';
import { DEFAULT_JOURNAL } from './target.ts';

export function replayCommand(): Command {
  return new Command('replay')
    .description('fold the journal again; with --verify reproduce every recorded response, byte for byte')
    .option('-j, --journal <file>', 'journal to replay', DEFAULT_JOURNAL)
    .option('--verify', 'make the responses of each receipt again and compare; exit 1 if any differs', false)
    .option('--to <position>', 'stop after this event, or at this time')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      '\nThe state hash is the same on every machine that folds the same journal with the same release.',
    )
    .action(async (options: { journal: string; verify: boolean; to?: string; output: string }) => {
      const format = parseFormat(options.output);
      await withJournal(options.journal, async journal => {
        const line = progress(options.verify ? 'replaying and verifying' : 'replaying');
        const to = options.to === undefined ? undefined : await resolvePosition(journal, options.to);
        const report = await replay(journal, { verify: options.verify, to, onProgress: line.show });
        line.end();
        if (format === 'table') show(report, options.verify);
        else printData(report as unknown as Json, format);
        if (report.different > 0 || report.failures.length > 0) process.exitCode = EXIT.failed;
      });
    });
}

function show(report: ReplayReport, verify: boolean): void {
  print(`folded ${report.events} events up to ${report.seq}; state ${report.stateHash}`);
  for (const { seq, message } of report.failures) print(`event ${seq} could not be folded: ${message}`);
  if (!verify) return;
  for (const d of report.differences) {
    print(
      `receipt ${d.seq}: ${d.connection} ${d.typeUrl} at state ${d.stateSeq}: recorded ${d.recorded.slice(0, 16)}, now ${d.reproduced.slice(0, 16)}`,
    );
  }
  const sent = report.reproduced + report.different;
  print(
    report.different === 0
      ? `${report.receipts} receipts, ${sent} responses: every one is reproduced byte for byte`
      : `${report.different} of ${sent} responses in ${report.receipts} receipts came out DIFFERENT`,
  );
}
