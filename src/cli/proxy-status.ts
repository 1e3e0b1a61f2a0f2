// periplus proxy-status: what each connected proxy has been sent and has accepted, asked of a running control plane as
// istioctl does.

import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { shortType } from '../history/config-dump.ts';
import { COMPARED_TYPES, sentAgainstHeld, type TypeDifference } from '../history/envoy-dump.ts';
import { nearestText } from '../history/nearest.ts';
import { isCalled } from '../history/proxies.ts';
import { proxyStatusAt } from '../history/proxy-status.ts';
import { askEnvoy, ENVOY_FLAG } from './envoy-admin.ts';
import { CliError, EXIT, type OutputFormat, parseFormat, print, printData, printTable } from './output.ts';
import { dumpOfProxy } from './proxy-dump.ts';
import { AT_HELP, askServer, positionOf, type TargetOptions, withHistory, withTargetOptions } from './target.ts';

/** Names that a line lists; -o json has all. */
const SHOWN_MAX = 6;

interface Flags extends TargetOptions {
  readonly output: string;
  readonly envoy?: string;
}

const COLUMNS = ['CDS', 'LDS', 'EDS', 'RDS', 'SDS', 'ECDS', 'NDS'] as const;

export function proxyStatusCommand(): Command {
  const command = new Command('proxy-status')
    .alias('ps')
    .description('show for every connected proxy whether it accepted what it was sent')
    .argument('[proxy]', 'only this one: pod, pod.namespace, workload, or connection');
  return withTargetOptions(command)
    .option(...ENVOY_FLAG)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
SYNCED: accepted. NOT SENT: nothing to send. STALE: sent, no answer yet. ERROR: refused; the reason follows the table.
With --envoy: the difference between what the proxy was sent and what its Envoy says that it has; exit code 1 if any.
Of the past and of a journal, which keeps no acknowledgements: SENT, with the event of the state that it was made from.

${AT_HELP}`,
    )
    .action(async (proxy: string | undefined, flags: Flags) => {
      const format = parseFormat(flags.output);
      if (flags.envoy !== undefined) return showDifference(proxy, flags.envoy, flags, format);
      const all = await statusOf(flags);
      const found = all.filter(status => proxy === undefined || isCalled(proxy, String(status.proxy)));
      if (proxy !== undefined && found.length === 0) {
        const ids = all.map(status => String(status.proxy));
        throw new CliError(`no proxy ${proxy} is connected${nearestText(proxy, ids)}; connected: ${ids.length}`);
      }
      if (format !== 'table') return printData(found as unknown as Json, format);
      if (found.length === 0) return print('no proxy is connected');
      printTable(['NAME', 'CLUSTER', ...COLUMNS, 'PROTOCOL', 'VERSION'], found.map(row));
      for (const status of found) printErrors(status);
      return undefined;
    });
}

async function showDifference(
  proxy: string | undefined,
  envoy: string,
  flags: Flags,
  format: OutputFormat,
): Promise<void> {
  if (proxy === undefined) throw new CliError('--envoy is one Envoy: name its proxy', EXIT.misuse);
  const [sent, { dump }] = await Promise.all([dumpOfProxy(proxy, flags, COMPARED_TYPES), askEnvoy(envoy)]);
  const all = sentAgainstHeld(sent, dump);
  const isSame = (one: TypeDifference): boolean => one.missing.length + one.extra.length + one.different.length === 0;
  if (!all.every(isSame)) process.exitCode = EXIT.failed;
  if (format !== 'table') return printData(all as unknown as Json, format);
  for (const one of all) {
    const { typeUrl, same, missing, extra, different } = one;
    const name = shortType(typeUrl);
    print(isSame(one) ? `${name}: the ${same} that were sent are those that Envoy has` : `${name}: ${same} equal`);
    if (missing.length > 0) print(`  sent, and Envoy does not have: ${listed(missing)}`);
    if (extra.length > 0) print(`  Envoy has, and not sent: ${listed(extra)}`);
    for (const { name: of, paths } of different) print(`  ${of} differs in ${listed(paths)}`);
  }
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN_MAX;
  return `${names.slice(0, SHOWN_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

async function statusOf({ journal, at, address }: TargetOptions): Promise<readonly JsonObject[]> {
  if (journal !== undefined) {
    return withHistory(journal, async history => {
      const state = await history.at(await positionOf(history, at));
      return (await proxyStatusAt(history, state)) as unknown as readonly JsonObject[];
    });
  }
  const body = await askServer(address, '/debug/syncz', { at });
  if (!Array.isArray(body))
    throw new CliError(`${address} did not answer with a list: is this the monitoring address of Periplus or istiod?`);
  return body.filter(isObject);
}

function row(status: JsonObject): readonly string[] {
  const types = isObject(status.types) ? status.types : {};
  const cells = COLUMNS.map(name => {
    const type = types[name];
    if (!isObject(type)) return '-';
    if (type.status === 'SENT') return `SENT ${String(type.stateSeq)}`;
    return type.status === 'NOT_SENT' ? 'NOT SENT' : String(type.status);
  });
  const text = (value: Json | undefined): string => (value === undefined ? '' : String(value));
  return [text(status.proxy), text(status.cluster_id), ...cells, text(status.protocol), text(status.istio_version)];
}

function printErrors(status: JsonObject): void {
  const types = isObject(status.types) ? status.types : {};
  for (const [name, type] of Object.entries(types)) {
    if (!isObject(type) || typeof type.lastError !== 'string') continue;
    print(`\n${String(status.proxy)} refused ${name}: ${type.lastError}`);
    if (Array.isArray(type.objects) && type.objects.length > 0)
      print(`  made from: ${type.objects.map(String).join(', ')}`);
  }
}
