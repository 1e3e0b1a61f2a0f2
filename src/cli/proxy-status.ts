// periplus proxy-status: what each connected proxy has been sent and has accepted, asked of a running control plane as istioctl does.

import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { nearestText } from '../history/nearest.ts';
import { isCalled } from '../history/proxies.ts';
import { proxyStatusAt } from '../history/proxy-status.ts';
import { CliError, parseFormat, print, printData, printTable } from './output.ts';
import { AT_HELP, askServer, positionOf, type TargetOptions, withHistory, withTargetOptions } from './target.ts';

const COLUMNS = ['CDS', 'LDS', 'EDS', 'RDS', 'SDS', 'ECDS', 'NDS'] as const;

export function proxyStatusCommand(): Command {
  const command = new Command('proxy-status')
    .alias('ps')
    .description('show for every connected proxy whether it accepted what it was sent')
    .argument('[proxy]', 'only this one: pod, pod.namespace, workload, or connection');
  return withTargetOptions(command)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
SYNCED: accepted. NOT SENT: nothing to send. STALE: sent, no answer yet. ERROR: refused; the reason follows the table.
Of the past and of a journal, which keeps no acknowledgements: SENT, with the event of the state that it was made from.

${AT_HELP}`,
    )
    .action(async (proxy: string | undefined, flags: TargetOptions & { readonly output: string }) => {
      const format = parseFormat(flags.output);
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
