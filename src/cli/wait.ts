// periplus wait: until an object is live in every connected proxy. For pipelines: apply, wait, go on.

import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import type { Liveness } from '../admin/live.ts';
import { isObject, type Json } from '../core/base/json.ts';
import { objectNamed } from '../history/object-name.ts';
import { isCalled } from '../history/proxies.ts';
import { CliError, EXIT, parseFormat, print, printData } from './output.ts';
import { askServer } from './target.ts';

const POLL_MS = 200;
/** Proxies that are named in the end. */
const PROXIES_SHOWN_MAX = 20;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

interface Flags {
  readonly for: string;
  readonly deleted: boolean;
  readonly timeout: string;
  readonly proxy?: string;
  readonly minProxies: string;
  readonly address: string;
  readonly output: string;
}

export function waitCommand(): Command {
  return new Command('wait')
    .description('wait until every connected proxy has accepted an object')
    .requiredOption('--for <object>', 'Kind/namespace/name, e.g. VirtualService/shop/reviews')
    .option('--deleted', 'until its deletion has reached every proxy', false)
    .option('--timeout <time>', 'how long, e.g. 500ms, 30s, 5m', '60s')
    .option('-p, --proxy <proxy>', 'only this one: pod, pod.namespace, workload, or connection')
    .option('--min-proxies <n>', 'proxies that must have it at least; 0: none need be connected', '1')
    .option('--address <host:port>', 'monitoring address of the control plane', 'localhost:15014')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
Without a connected proxy nothing is live: --min-proxies 0 accepts that. A proxy has the object when, for every type that it subscribes to, it has accepted a response made from a state with the object in it, or just
what it would be given now. A refusal (NACK) never counts. Proxies that connect meanwhile count, too.
Of an EnvoyFilter, the proxies that its patches break are named: what Envoy refuses of the result.
Exit code 0: live everywhere; 1: not in time, or the object was refused: which proxies are behind, and why, is printed.

Example:
  kubectl apply -f reviews.yaml && periplus wait --for VirtualService/shop/reviews --timeout 2m`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      const wanted = { ...flags, for: objectNamed(flags.for), least: leastOf(flags.minProxies) };
      const until = Date.now() + timeoutMs(flags.timeout);
      for (;;) {
        const found = await ask(wanted);
        const over = Date.now() >= until;
        if (isLive(found, wanted)) return show(found, wanted, format);
        if (found.verdict === 'refused' || over) {
          process.exitCode = EXIT.failed;
          return show(found, wanted, format);
        }
        await sleep(POLL_MS);
      }
    });
}

async function ask({ for: object, address, proxy }: Flags): Promise<Liveness> {
  const answer = await askServer(address, '/debug/livez', { for: object }, '');
  if (!isObject(answer) || !Array.isArray(answer.proxies))
    throw new CliError(`${address} did not say what is live: is it Periplus?`);
  const found = answer as unknown as Liveness;
  return { ...found, proxies: found.proxies.filter(one => proxy === undefined || isCalled(proxy, one.proxy)) };
}

interface Wanted extends Flags {
  /** Proxies that must have it. */
  readonly least: number;
}

function isLive({ verdict, proxies }: Liveness, { deleted, least }: Wanted): boolean {
  const known = verdict === (deleted ? 'unknown' : 'accepted');
  return known && proxies.length >= least && proxies.every(({ live }) => live);
}

function leastOf(text: string): number {
  if (/^[0-9]+$/.test(text)) return Number(text);
  throw new CliError(`--min-proxies ${text}: expected a whole number`, EXIT.misuse);
}

function show(found: Liveness, wanted: Wanted, format: ReturnType<typeof parseFormat>): void {
  if (format !== 'table') {
    printData(found as unknown as Json, format);
    return;
  }
  const { deleted, timeout, least } = wanted;
  const { object, proxies, seq } = found;
  for (const line of broken(proxies)) print(line);
  const behind = proxies.filter(({ live }) => !live);
  const what = deleted ? `the deletion of ${object}` : `${object} of event ${seq}`;
  if (isLive(found, wanted)) {
    print(
      proxies.length === 0
        ? `${what} is in force; no proxy is connected`
        : `${what} is live in ${count(proxies.length)}`,
    );
    return;
  }
  if (found.verdict === 'refused') {
    print(`${object} was refused${seq === 0 ? '' : `; the version of event ${seq} stays in force`}`);
    for (const problem of found.problems) print(`  ${problem}`);
    return;
  }
  if (found.verdict === 'unknown' && !deleted) print(`after ${timeout} the control plane does not know ${object}`);
  else if (found.verdict === 'accepted' && deleted) print(`after ${timeout} the control plane still has ${object}`);
  else if (proxies.length < least) {
    const who = wanted.proxy === undefined ? '' : ` called ${wanted.proxy}`;
    const are = proxies.length === 0 ? 'no proxy' : count(proxies.length);
    print(`after ${timeout} ${what} is in force, and ${are}${who} of the ${least} wanted is connected (--min-proxies)`);
  } else print(`after ${timeout} ${what} is not live in ${behind.length} of ${count(proxies.length)}`);
  for (const one of behind.slice(0, PROXIES_SHOWN_MAX)) {
    for (const { type, why } of one.behind) print(`  ${one.proxy}  ${type}  ${why}`);
  }
  if (behind.length > PROXIES_SHOWN_MAX) print(`  … and ${behind.length - PROXIES_SHOWN_MAX} more (-o json)`);
}

/** What Envoy refuses of the patches of the EnvoyFilter, with the proxies. */
function broken(proxies: Liveness['proxies']): readonly string[] {
  const by = new Map<string, string[]>();
  for (const { proxy, breaks } of proxies) {
    for (const sentence of breaks) by.set(sentence, [...(by.get(sentence) ?? []), proxy]);
  }
  return [...by].map(([sentence, names]) => {
    const shown = names.slice(0, PROXIES_SHOWN_MAX).join(', ');
    const more = names.length > PROXIES_SHOWN_MAX ? ` and ${names.length - PROXIES_SHOWN_MAX} more` : '';
    return `with its patches, ${sentence}: Envoy refuses it on ${shown}${more}`;
  });
}

function count(proxies: number): string {
  return `${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}`;
}

function timeoutMs(text: string): number {
  const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)$/.exec(text);
  if (match === null) throw new CliError(`--timeout ${text}: expected a time such as 500ms, 30s or 5m`, EXIT.misuse);
  return Number(match[1]) * UNITS[match[2]!]!;
}
