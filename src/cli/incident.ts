// periplus incident: what broke, and what broke first, in a stretch of time: every condition of bisect over all
// proxies.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import type { Incident, IncidentSymptom } from '../history/answers.ts';
import { connectedDuring } from '../history/connected-during.ts';
import type { History } from '../history/history.ts';
import { incident } from '../history/incident.ts';
import { CliError, EXIT, parseFormat, print, printData, progress, showTime } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, rangeStart, withHistory } from './target.ts';
import { coloured, oneLine } from './terminal.ts';

/** Symptoms of one event, and proxies of one symptom, that text lists; -o json has all. */
const SYMPTOMS_SHOWN_MAX = 8;
const PROXIES_SHOWN_MAX = 3;

interface Flags {
  readonly journal: string;
  readonly since?: string;
  readonly from?: string;
  readonly to?: string;
  readonly proxy?: string;
  readonly output: string;
}

const words: Readonly<Record<IncidentSymptom['kind'], string>> = {
  'cluster-missing': 'routes lead to a cluster that is not there',
  'endpoints-lost': 'a cluster has lost its endpoints',
  'route-lost': 'a host has lost its routes',
  refused: 'an object is refused',
  'proxy-gone': 'a proxy is gone',
  nack: 'a proxy refused what it was sent',
};

export function incidentCommand(): Command {
  return new Command('incident')
    .description('find what broke for any proxy in a stretch of time, and which event came first')
    .option('-j, --journal <file>', 'journal to search', DEFAULT_JOURNAL)
    .option('--since <time>', 'how long before the last event it was well, e.g. 20m, 2h')
    .option('--from <position>', 'a position where it was well; default: the beginning')
    .option('--to <position>', 'the end of the search; default: the end of the journal')
    .option('-p, --proxy <proxy>', 'only this one: pod, pod.namespace, workload, or connection')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}
Looks for routes to clusters that are not there, clusters that lost their endpoints, hosts that lost their routes, refused objects, proxies
that are gone, and refusals of proxies (NACKs). Exit code 0: nothing broke; 1: something did.

Examples:
  periplus incident --since 20m
  periplus incident --from 14:00 --to 14:30 --proxy productpage --journal incident.db`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      const look = async (history: History): Promise<void> => {
        const found = await search(history, flags);
        if (format === 'table') show(found);
        else printData(found as unknown as Json, format);
        if (found.breaks.length > 0) process.exitCode = EXIT.failed;
      };
      await withHistory(flags.journal, look, true);
    });
}

async function search(history: History, { since, from, to, proxy }: Flags): Promise<Incident> {
  if (since !== undefined && from !== undefined) throw new CliError('give --since or --from, not both', EXIT.misuse);
  if (since !== undefined && !/^[0-9]+(\.[0-9]+)?(s|m|h|d)$/.test(since)) {
    throw new CliError(`--since ${since}: expected a time such as 90s, 20m, 2h or 1d`, EXIT.misuse);
  }
  const range = {
    from: await rangeStart(history, since === undefined ? from : `-${since}`),
    to: await positionOf(history, to),
  };
  if (range.from >= range.to) throw new CliError('the search has no event: it must begin before it ends', EXIT.misuse);
  // Throws, with the nearest names, if no proxy is called that.
  const wanted = proxy === undefined ? undefined : (await connectedDuring(history, proxy, range)).proxy.facets.id;
  const line = progress('looking');
  const only = wanted === undefined ? {} : { only: wanted };
  return incident(history, range, { onProgress: line.show, ...only }).finally(line.end);
}

function show({ from, to, proxies, leftOut, evaluated, breaks, before }: Incident): void {
  const asked = `${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}${leftOut === 0 ? '' : ` (${leftOut} left out)`}`;
  print(`events ${from} to ${to}, ${asked}, ${evaluated} positions evaluated`);
  if (before.length > 0)
    print(`${before.length} symptoms were there at event ${from} already: start earlier to find them`);
  if (breaks.length === 0) print(coloured('nothing broke', 'green'));
  for (const [i, { seq, time, source, kind, event, symptoms }] of breaks.entries()) {
    print(
      `\n${i === 0 ? `${coloured('first', 'red')}: ` : ''}event ${seq}, ${showTime(time)}: ${kind} ${oneLine(event)} (${oneLine(source)})`,
    );
    for (const symptom of symptoms.slice(0, SYMPTOMS_SHOWN_MAX)) print(`  ${oneLine(symptomText(symptom))}`);
    const more = symptoms.length - SYMPTOMS_SHOWN_MAX;
    if (more > 0) print(`  … ${more} more (-o json)`);
  }
}

function symptomText({ kind, what, proxies, lasts }: IncidentSymptom): string {
  const shown = proxies.slice(0, PROXIES_SHOWN_MAX).join(', ');
  const more = proxies.length - PROXIES_SHOWN_MAX;
  const whose = proxies.length === 0 ? '' : `  (${shown}${more > 0 ? ` and ${more} more` : ''})`;
  return `${words[kind]}: ${what}${whose}${lasts || kind === 'nack' ? '' : ', mended since'}`;
}
