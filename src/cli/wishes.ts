// periplus wishes: what the control plane wants to be written to clusters, of files, of a journal at any position, or
// of a running one. Writes nothing.

import { Command } from 'commander';
import { type WishReport, wishReport, wishReportJson } from '../offline/wishes.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable, tell } from './output.ts';
import { AT_HELP, askServer, positionOf, type TargetOptions, withHistory, withTargetOptions } from './target.ts';
import { addMeshFlags, type MeshFlags, stateOfFiles } from './yaml-files.ts';

interface Flags extends MeshFlags, TargetOptions {
  readonly filename?: readonly string[];
  readonly output: string;
}

export function wishesCommand(): Command {
  const command = new Command('wishes')
    .description('what the control plane wants to be written to the cluster, and what of it is there already')
    .option('-f, --filename <path...>', 'of the objects of files or folders, instead of a running control plane');
  return addMeshFlags(withTargetOptions(command), 'with --filename: ')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}

Nothing is written. \`periplus serve\` writes what is listed here, if it holds the election in the column LOCK; with --read-only it writes nothing.

Examples:
  periplus wishes                                        of the control plane at localhost:15014
  periplus wishes --journal incident.db --at 14:03 -o yaml`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      const report = await reportOf(flags);
      if (format !== 'table') return printData(wishReportJson(report), format);
      for (const clash of report.clashes) tell(`two features wish for ${clash}`);
      if (report.wishes.length === 0) return print('nothing is to be written');
      const rows = report.wishes.map(({ target, plan, lock, leads, refused }) => [
        target,
        refused === null ? plan : `${plan}, refused: ${refused}`,
        lock ?? '-',
        leads ? 'yes' : 'no',
      ]);
      printTable(['TARGET', 'PLAN', 'LOCK', 'LEADS'], rows);
    });
}

async function reportOf(flags: Flags): Promise<WishReport> {
  const { filename, journal, at, address } = flags;
  if (filename !== undefined) {
    if (journal !== undefined || at !== undefined) {
      throw new CliError('--filename goes with neither --journal nor --at', EXIT.misuse);
    }
    return wishReport(await stateOfFiles(filename, flags));
  }
  if (journal === undefined) return (await askServer(address, '/debug/wishesz', { at })) as unknown as WishReport;
  return withHistory(journal, async history => wishReport(await history.at(await positionOf(history, at))));
}
