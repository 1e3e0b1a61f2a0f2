// periplus proxy-status: what each connected proxy has been sent and has accepted, asked of a running control plane as istioctl does.

import { Command } from 'commander';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { CliError, parseFormat, print, printData, printTable } from './output.ts';

const COLUMNS = ['CDS', 'LDS', 'EDS', 'RDS', 'SDS', 'ECDS', 'NDS'] as const;

/** How long the control plane may take to answer. */
export const ANSWER_MS_MAX = 10_000;

export function proxyStatusCommand(): Command {
  return new Command('proxy-status')
    .alias('ps')
    .description('show for every connected proxy whether it has what it was sent')
    .argument('[proxy]', 'only proxies whose id contains this')
    .option('--address <host:port>', 'monitoring address of the control plane', 'localhost:15014')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      '\nSYNCED: accepted. NOT SENT: nothing to send. STALE: sent, no answer yet. ERROR: refused; the reason follows the table.',
    )
    .action(async (proxy: string | undefined, options: { address: string; output: string }) => {
      const format = parseFormat(options.output);
      const all = await ask(options.address);
      const found = all.filter(status => proxy === undefined || String(status.proxy).includes(proxy));
      if (format !== 'table') return printData(found as unknown as Json, format);
      if (found.length === 0)
        return print(proxy === undefined ? 'no proxy is connected' : `no connected proxy matches ${proxy}`);
      printTable(['NAME', 'CLUSTER', ...COLUMNS, 'PROTOCOL', 'VERSION'], found.map(row));
      for (const status of found) printErrors(status);
      return undefined;
    });
}

async function ask(address: string): Promise<readonly JsonObject[]> {
  const url = `http://${address}/debug/syncz`;
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch {
    throw new CliError(
      `no control plane answers at ${address}; is \`periplus serve\` running? --address HOST:PORT names another one`,
    );
  }
  if (!answer.ok) throw new CliError(`${url} answered ${answer.status}`);
  const body = (await answer.json()) as Json;
  if (!Array.isArray(body))
    throw new CliError(`${url} is not a list: is this the monitoring address of Periplus or istiod?`);
  return body.filter(isObject);
}

function row(status: JsonObject): readonly string[] {
  const types = isObject(status.types) ? status.types : {};
  const cells = COLUMNS.map(name => {
    const type = types[name];
    return isObject(type) ? String(type.status) : '-';
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
