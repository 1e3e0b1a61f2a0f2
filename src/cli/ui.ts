// periplus ui: the explorer over a journal or an exported one, in the browser. Needs no server and no cluster; answers
// on the loopback address only.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { explorer } from '../admin/explorer/mount.ts';
import { type HttpServer, type Mount, serveHttp } from '../admin/http.ts';
import { openJournal } from '../journal/open.ts';
import { journalOf } from './exported-journal.ts';
import { CliError, EXIT, print, tell } from './output.ts';
import { DEFAULT_JOURNAL } from './target.ts';

/** So that links into the explorer stay right from one run to the next; another port if it is taken. */
const PORT_DEFAULT = 15099;

interface Flags {
  readonly port?: string;
  readonly open: boolean;
  readonly journalKey?: string;
}

export function uiCommand(): Command {
  return new Command('ui')
    .description('look at a journal in the browser: timeline, mesh, proxies, objects, what if, bisect')
    .argument('[journal]', 'a journal, also one that is being written, or an exported one (.jsonl, .jsonl.gz)')
    .option('--port <port>', `port on the loopback address (default: ${PORT_DEFAULT}, or a free one)`)
    .option('--no-open', 'print the address and open no browser')
    .option('--journalKey <file>', 'key that seals secrets in the journal (default: <journal>.key)')
    .addHelpText(
      'after',
      `
The HTTP API below /api/v1/ is described in docs/reference/http-api.md. Private values are never shown.

Examples:
  periplus ui
  periplus ui incident.jsonl.gz
  periplus ui --port 9000 --no-open .periplus/journal.db`,
    )
    .action((given: string | undefined, flags: Flags) => runUi(given ?? DEFAULT_JOURNAL, flags));
}

/** Until SIGINT or SIGTERM. */
async function runUi(given: string, flags: Flags): Promise<void> {
  if (!existsSync(given)) throw new CliError(`there is no journal ${given}`);
  const port = portOf(flags.port);
  const stopped = signalled();
  const { journal, remove } = await journalOf(given);
  try {
    // A journal that cannot be opened is an error of the command, not a page in the browser.
    await (await openJournal(journal, { readonly: true })).close();
    const onError = (message: string): void => tell(`periplus: ${message}`);
    const keyFile = flags.journalKey === undefined ? {} : { keyFile: flags.journalKey };
    const mount = explorer({ mode: 'file', journal, title: given, onError, ...keyFile });
    const server = await listen(port, onError, mount);
    const address = `http://127.0.0.1:${server.port}/ui/`;
    print(`${given} in the explorer: ${address}  (Ctrl-C ends it)`);
    if (flags.open) openBrowser(address);
    await stopped;
    await server.close();
    await mount.close();
  } finally {
    await remove();
  }
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CliError(`--port ${text}: expected a number from 0 to 65535`, EXIT.misuse);
}

async function listen(port: number | undefined, onError: (message: string) => void, mount: Mount): Promise<HttpServer> {
  const at = (number: number): Promise<HttpServer> =>
    serveHttp({ host: '127.0.0.1', port: number }, new Map(), onError, { mount });
  if (port !== undefined) return at(port);
  return at(PORT_DEFAULT).catch(() => at(0));
}

function signalled(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** The address is printed in any case: a machine without a browser is no failure. */
function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '', address]
        : ['xdg-open', address];
  const child = spawn(command!, args, { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}
