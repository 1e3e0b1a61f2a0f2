// periplus bisect: the event that broke it.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Json, JsonObject } from '../core/base/json.ts';
import type { Event } from '../core/event.ts';
import {
  type BisectCondition,
  bisect,
  clusterMissing,
  conditionOfProxy,
  endpointsLost,
  nacked,
  resourceChanged,
  routeLost,
} from '../history/bisect.ts';
import { configDump } from '../history/config-dump.ts';
import { diffMeshes } from '../history/diff.ts';
import type { History } from '../history/history.ts';
import { managerOf, objectOfEvent } from '../history/last-change.ts';
import { proxiesAt, proxyNamed } from '../history/proxies.ts';
import { showDifference } from './diff.ts';
import { CliError, EXIT, parseFormat, print, printData, progress, showTime } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, withHistory } from './target.ts';

/** Exit code by which a test command says that it cannot tell, as with git bisect run. */
const SKIP = 125;
const ABORT_FROM = 126;

interface Flags {
  readonly journal: string;
  readonly from?: string;
  readonly to?: string;
  readonly proxy?: string;
  readonly routeLost?: string;
  readonly clusterMissing?: string | true;
  readonly endpointsLost?: string;
  readonly resourceChanged?: string;
  readonly nack?: true;
  readonly output: string;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

export function bisectCommand(): Command {
  return new Command('bisect')
    .description('find the first event after which a condition holds, its author and its effect')
    .argument('[test...]', 'after --: a test command that exits with 0 at a good position')
    .option('-j, --journal <file>', 'journal to search', DEFAULT_JOURNAL)
    .option('--from <position>', 'a position before the fault; default: the beginning')
    .option(
      '--to <position>',
      'it holds here; default: the end, or if it does not hold there, the last place where it is seen to',
    )
    .option('-p, --proxy <proxy>', 'pod, pod.namespace, or connection')
    .option('--route-lost <host>', 'the proxy has no virtual host for it')
    .option('--cluster-missing [name]', 'the proxy sends to a cluster that it has not; only with this in its name')
    .option('--endpoints-lost <cluster>', 'the cluster has no endpoints')
    .option(
      '--resource-changed <type/name>',
      'cluster/NAME, endpoint/NAME, listener/NAME or route/NAME is another one than at --from',
    )
    .option('--nack', 'a proxy (or --proxy) refused something')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}
A test command finds in its environment PERIPLUS_SEQ, PERIPLUS_TIME, and in the file PERIPLUS_DUMP what the proxies hold there (as
/debug/config_dump gives it; a list, or one with --proxy). Exit code 0: well; 125: cannot tell; 126 and more: stop; others: it holds.
Exit code 0: the event was found; 1: it holds nowhere.

Examples:
  periplus bisect --proxy productpage --cluster-missing
  periplus bisect --proxy productpage --route-lost reviews --from 9:00 --to 10:20
  periplus bisect --nack --journal incident.db
  periplus bisect --proxy productpage -- sh -c '! grep -q "|v3|" $PERIPLUS_DUMP'`,
    )
    .action(async (test: readonly string[], flags: Flags) => {
      const format = parseFormat(flags.output);
      await withHistory(flags.journal, async history => {
        const range: Range = {
          from: flags.from === undefined ? history.first() : await positionOf(history, flags.from),
          to: await positionOf(history, flags.to),
        };
        if (range.from >= range.to) throw new CliError('--from must come before --to', EXIT.misuse);
        const { holds, what, done } = await conditionOf(history, range, test, flags);
        const line = progress('looking');
        const steps = Math.ceil(Math.log2(range.to - range.from)) + 2;
        const found = await bisect(range, holds, evaluated => line.show(evaluated, steps)).finally(done);
        line.end();
        if (found === undefined) {
          throw new CliError(
            `${what}: holds nowhere between ${range.from} and ${range.to} that was looked at; narrow it with --from and --to`,
          );
        }
        await showFound(history, what, found, flags, format);
      });
    });
}

interface Condition {
  readonly holds: BisectCondition;
  readonly what: string;
  readonly done: () => Promise<void>;
}

async function conditionOf(history: History, range: Range, test: readonly string[], flags: Flags): Promise<Condition> {
  const done = async (): Promise<void> => undefined;
  const given = [flags.routeLost, flags.clusterMissing, flags.endpointsLost, flags.resourceChanged, flags.nack].filter(
    value => value !== undefined,
  );
  if (given.length + (test.length > 0 ? 1 : 0) !== 1)
    throw new CliError(
      'say what to look for: one of --route-lost, --cluster-missing, --endpoints-lost, --resource-changed, --nack, or a test command after --',
      EXIT.misuse,
    );
  if (test.length > 0) return testCommand(history, test, flags.proxy);
  if (flags.nack === true) {
    return { holds: await nacked(history, flags.proxy ?? '', range), what: 'a proxy refused something', done };
  }
  const { proxy } = flags;
  if (proxy === undefined) throw new CliError('say of which proxy: --proxy', EXIT.misuse);
  if (flags.resourceChanged !== undefined) {
    return {
      holds: await resourceChanged(history, proxy, flags.resourceChanged, range),
      what: `${flags.resourceChanged} changed`,
      done,
    };
  }
  if (flags.routeLost !== undefined) {
    const holds = await conditionOfProxy(history, proxy, range.to, routeLost(history, flags.routeLost));
    return { holds, what: `${proxy} has no route for ${flags.routeLost}`, done };
  }
  if (flags.endpointsLost !== undefined) {
    const holds = await conditionOfProxy(history, proxy, range.to, endpointsLost(history, flags.endpointsLost));
    return { holds, what: `${flags.endpointsLost} has no endpoints for ${proxy}`, done };
  }
  const part = typeof flags.clusterMissing === 'string' ? flags.clusterMissing : '';
  const holds = await conditionOfProxy(history, proxy, range.to, clusterMissing(history, part));
  return {
    holds,
    what: `${proxy} sends to a cluster${part === '' ? '' : ` with ${part} in its name`} that it has not`,
    done,
  };
}

async function testCommand(history: History, test: readonly string[], proxy: string | undefined): Promise<Condition> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-bisect-'));
  const dump = join(folder, 'config.json');
  const holds: BisectCondition = async seq => {
    const state = await history.at(seq);
    const held =
      proxy === undefined
        ? proxiesAt(state).map(one => configDump(history.tracker, state, one))
        : configDump(history.tracker, state, proxyNamed(state, proxy));
    await writeFile(dump, JSON.stringify(held, null, 2));
    const code = await runTest(test, {
      PERIPLUS_SEQ: String(seq),
      PERIPLUS_TIME: showTime(state.time),
      PERIPLUS_DUMP: dump,
    });
    if (code >= ABORT_FROM) throw new CliError(`the test command ended with ${code} at event ${seq}: stopped`);
    return code === SKIP ? undefined : code !== 0;
  };
  return { holds, what: `\`${test.join(' ')}\` fails`, done: () => rm(folder, { recursive: true, force: true }) };
}

function runTest(
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', error => reject(new CliError(`the test command cannot be run: ${error.message}`)));
    child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 0) : ABORT_FROM));
  });
}

async function showFound(
  history: History,
  what: string,
  found: { readonly seq: number; readonly evaluated: number },
  flags: Flags,
  format: ReturnType<typeof parseFormat>,
): Promise<void> {
  const event = await history.event(found.seq);
  const [before, after] = [await history.at(found.seq - 1), await history.at(found.seq)];
  const named = flags.proxy;
  const sideOf = (state: typeof before) => ({
    state,
    proxies: proxiesAt(state).filter(
      ({ facets, connection }) => named === undefined || `${facets.id} ${connection}`.includes(named),
    ),
  });
  const difference = diffMeshes(history.tracker, sideOf(before), sideOf(after));
  if (format !== 'table') {
    const shown = await recordedAs(history, found.seq);
    return printData({ what, ...found, event: shown, difference } as unknown as Json, format);
  }
  print(`${what} since event ${found.seq} (${found.evaluated} positions evaluated)`);
  print(`  ${eventText(event)}`);
  return showDifference(difference);
}

/** The event as it was recorded, private values redacted: it may be a Secret. */
async function recordedAs(history: History, seq: number): Promise<JsonObject> {
  for await (const [event] of history.journal.records({ from: seq, to: seq, secrets: 'redacted' })) {
    if (event === undefined) break;
    const { time, source, kind, body } = event;
    return { seq, time: showTime(time), source, kind, ...(JSON.parse(body) as JsonObject) };
  }
  return { seq };
}

function eventText(event: Event): string {
  const about = event.kind === 'ProxyNacked' ? `${event.connection}: ${event.message.trim()}` : objectOfEvent(event);
  const isObject = event.kind === 'Add' || event.kind === 'Update';
  const origin = isObject && event.origin !== undefined ? ` ${event.origin.file}` : '';
  const manager = isObject ? managerOf(event.object) : '';
  const who = manager === '' ? '' : `, by ${manager}`;
  return `${showTime(event.time)}  ${event.kind} ${about}  (${event.source}${origin}${who})`;
}
