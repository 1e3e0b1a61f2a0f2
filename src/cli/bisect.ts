// periplus bisect: the event that broke it.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Json, JsonObject } from '../core/base/json.ts';
import type { Event } from '../core/event.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import { type BisectCondition, type BisectRange, bisect } from '../history/bisect.ts';
import { type ConditionName, conditionNamed } from '../history/bisect-conditions.ts';
import { configDump } from '../history/config-dump.ts';
import { connectedDuring } from '../history/connected-during.ts';
import { diffMeshes } from '../history/diff.ts';
import type { History } from '../history/history.ts';
import { HistoryFault } from '../history/history-fault.ts';
import { managerOf, objectOfEvent } from '../history/last-change.ts';
import { isCalled, proxiesAt } from '../history/proxies.ts';
import { showDifference } from './diff.ts';
import { CliError, EXIT, parseFormat, print, printData, progress, showTime } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, rangeStart, withHistory } from './target.ts';

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

type Range = BisectRange;

export function bisectCommand(): Command {
  return new Command('bisect')
    .description('find the first event after which a condition holds, its author and its effect')
    .argument('[test...]', 'after --: a test command that exits with 0 at a good position')
    .option('-j, --journal <file>', 'journal to search', DEFAULT_JOURNAL)
    .option(
      '--from <position>',
      'a position before the fault; default: the first where it does not hold, from the connect of the proxy on',
    )
    .option(
      '--to <position>',
      'it holds here; default: the end, or if it does not hold there, the last place where it is seen to',
    )
    .option('-p, --proxy <proxy>', 'pod, pod.namespace, or connection')
    .option('--route-lost <host>', 'the proxy has no virtual host for it')
    .option(
      '--cluster-missing [name]',
      'the proxy routes to a cluster that it does not have; only one with this in its name',
    )
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
/debug/holdingsz gives it; a list, or one with --proxy). Exit code 0: well; 125: cannot tell; 126 and more: stop; others: it holds.
Exit code 0: the event was found; 1: it holds nowhere.

Examples:
  periplus bisect --proxy productpage --cluster-missing
  periplus bisect --proxy productpage --route-lost reviews --from 9:00 --to 10:20
  periplus bisect --nack --journal incident.db
  periplus bisect --proxy productpage -- sh -c '! grep -q "|v3|" $PERIPLUS_DUMP'`,
    )
    .action(async (test: readonly string[], flags: Flags) => {
      const format = parseFormat(flags.output);
      const search = async (history: History): Promise<void> => {
        const whole = { from: await rangeStart(history, flags.from), to: await positionOf(history, flags.to) };
        if (whole.from >= whole.to) throw new CliError('--from must come before --to', EXIT.misuse);
        const proxy = flags.proxy === undefined ? undefined : await connectedDuring(history, flags.proxy, whole);
        // Before a proxy connects for the first time nothing can be asked about it.
        const from = flags.from === undefined ? Math.min(proxy?.since ?? whole.from, whole.to - 1) : whole.from;
        const range: Range = { from, to: whole.to, search: flags.from === undefined };
        const condition = await conditionOf(history, range, test, flags, proxy?.proxy);
        const { holds, what, done } = condition;
        const line = progress('looking');
        const steps = Math.ceil(Math.log2(range.to - range.from)) + 2;
        const found = await bisect(range, holds, evaluated => line.show(evaluated, steps))
          .catch(error => explainNever(error, condition))
          .finally(() => {
            line.end();
            return done();
          });
        if (found === undefined) {
          const near = (await condition.nearest?.()) ?? '';
          throw new CliError(
            `${what}: holds nowhere between ${range.from} and ${range.to} that was looked at${near || '; narrow it with --from and --to'}`,
          );
        }
        await showFound(history, what, found, flags, format);
      };
      await withHistory(flags.journal, search, true);
    });
}

interface Condition {
  /** The names nearest to one that the proxy has nothing of; empty: it has. */
  readonly nearest?: () => Promise<string>;
  readonly holds: BisectCondition;
  readonly what: string;
  readonly done: () => Promise<void>;
}

async function conditionOf(
  history: History,
  range: Range,
  test: readonly string[],
  flags: Flags,
  proxy: ProxyRecord | undefined,
): Promise<Condition> {
  const done = async (): Promise<void> => undefined;
  const given = [flags.routeLost, flags.clusterMissing, flags.endpointsLost, flags.resourceChanged, flags.nack].filter(
    value => value !== undefined,
  );
  if (given.length + (test.length > 0 ? 1 : 0) !== 1)
    throw new CliError(
      'say what to look for: one of --route-lost, --cluster-missing, --endpoints-lost, --resource-changed, --nack, or a test command after --',
      EXIT.misuse,
    );
  if (test.length > 0) return testCommand(history, test, proxy);
  return { ...(await conditionNamed(history, range, namedBy(flags), flags.proxy, proxy)), done };
}

function namedBy({ routeLost, endpointsLost, resourceChanged, nack, clusterMissing }: Flags): ConditionName {
  if (nack === true) return { name: 'nack', value: '' };
  if (routeLost !== undefined) return { name: 'route-lost', value: routeLost };
  if (endpointsLost !== undefined) return { name: 'endpoints-lost', value: endpointsLost };
  if (resourceChanged !== undefined) return { name: 'resource-changed', value: resourceChanged };
  return { name: 'cluster-missing', value: typeof clusterMissing === 'string' ? clusterMissing : '' };
}

/** A name that nothing has is never well: the nearest ones are named. */
async function explainNever(error: unknown, { nearest }: Condition): Promise<never> {
  if (!(error instanceof HistoryFault)) throw error;
  throw new HistoryFault(`${error.message}${(await nearest?.()) ?? ''}`);
}

async function testCommand(
  history: History,
  test: readonly string[],
  proxy: ProxyRecord | undefined,
): Promise<Condition> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-bisect-'));
  const dump = join(folder, 'config.json');
  const holds: BisectCondition = async seq => {
    const state = await history.at(seq);
    const called = proxiesAt(state).filter(one => proxy === undefined || one.facets.id === proxy.facets.id);
    // Of a proxy that is not there nothing can be told.
    if (proxy !== undefined && called.length === 0) return undefined;
    const dumps = called.map(one => configDump(history.tracker, state, one));
    const held = proxy === undefined ? dumps : dumps[0];
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
      ({ facets, connection }) => named === undefined || isCalled(named, facets.id, connection),
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
