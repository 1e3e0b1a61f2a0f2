// periplus version: of this program, and of the control plane that answers.

import { Command } from 'commander';
import { VERSION } from '../admin/version.ts';
import { CliError, parseFormat, print, printData } from './output.ts';
import { askServerText } from './target.ts';

export function versionCommand(): Command {
  return new Command('version')
    .description('print the version of this program and of the running control plane')
    .option('--address <host:port>', 'monitoring address of the control plane', 'localhost:15014')
    .option('--remote', 'fail if no control plane answers', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (flags: { readonly address: string; readonly remote: boolean; readonly output: string }) => {
      const format = parseFormat(flags.output);
      const server = await serverVersion(flags.address, flags.remote);
      const client = { version: VERSION, node: process.versions.node };
      if (format !== 'table') return printData({ client, server }, format);
      print(`periplus ${VERSION} (Node.js ${process.versions.node})`);
      print(server === null ? `no control plane answers at ${flags.address}` : `control plane ${server}`);
      return undefined;
    });
}

/** Null: none answers. The page is plain text, as istiod's is. */
async function serverVersion(address: string, isRequired: boolean): Promise<string | null> {
  try {
    return (await askServerText(address, '/version', {}, '')).trim();
  } catch (error) {
    if (isRequired || !(error instanceof CliError)) throw error;
    return null;
  }
}
