// periplus journal stats: who writes, how much, and what of it makes pushes.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { type Count, type JournalStats, statsOf } from '../history/stats.ts';
import { parseFormat, print, printData, printTable, progress, showTime } from './output.ts';
import { AT_HELP, journalOption, positionOf, withHistory } from './target.ts';

export function statsCommand(): Command {
  return new Command('stats')
    .description('count events by kind, source and manager; list the objects that cause most pushes, and why')
    .option(...journalOption)
    .option('--from <position>', 'first event; default: the beginning')
    .option('--to <position>', 'last event; default: the end')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}
PUSHES: events of the object that asked for a push. RESPONSES: those that went to proxies with a change of the object as news, alone or among others.`,
    )
    .action(async (options: { journal: string; from?: string; to?: string; output: string }) => {
      const format = parseFormat(options.output);
      await withHistory(options.journal, async history => {
        const from = Math.max(
          history.first() + 1,
          options.from === undefined ? 0 : await positionOf(history, options.from),
        );
        const line = progress('counting');
        const stats = await statsOf(history, from, await positionOf(history, options.to), line.show);
        line.end();
        if (format === 'table') show(stats);
        else printData(stats as unknown as Json, format);
      });
    });
}

function show(stats: JournalStats): void {
  const { from, to, fromTime, toTime, receipts, responses, nacks } = stats;
  print(
    `events ${from} to ${to}, ${showTime(fromTime)} to ${showTime(toTime)}: ${responses} responses in ${receipts} receipts, ${nacks} refused\n`,
  );
  showCounts('KIND', stats.kinds);
  showCounts('SOURCE', stats.sources);
  showCounts('MANAGER', stats.managers);
  const written = stats.objects.filter(({ pushes }) => pushes > 0);
  printTable(
    ['OBJECT', 'EVENTS', 'PUSHES', 'RESPONSES', 'REASONS', 'WRITTEN BY'],
    written.map(one => [
      one.object,
      String(one.events),
      String(one.pushes),
      String(one.responses),
      Object.keys(one.reasons).join(','),
      one.managers.join(','),
    ]),
  );
}

function showCounts(head: string, counts: readonly Count[]): void {
  if (counts.length === 0) return;
  printTable(
    [head, 'EVENTS', 'KB'],
    counts.map(({ name, events, chars }) => [name, String(events), (chars / 1_000).toFixed(1)]),
  );
  print('');
}
