#!/usr/bin/env node
// periplus: the command line. One file a command; here they are put together and errors become one line and an exit code.

import { Command, CommanderError } from 'commander';
import { VERSION } from '../admin/version.ts';
import { demoCommand } from './demo.ts';
import { generateCommand } from './generate.ts';
import { journalCommand } from './journal.ts';
import { EXIT, explainError } from './output.ts';
import { proxyStatusCommand } from './proxy-status.ts';
import { replayCommand } from './replay.ts';
import { serveCommand } from './serve.ts';

function program(): Command {
  const main = new Command('periplus')
    .description(
      'An Istio control plane that keeps a journal: serve a mesh, and replay what happened to the very same bytes.',
    )
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(add --help for what can be said here)')
    .addHelpText(
      'after',
      `
Examples:
  periplus serve --configDir ./mesh                     serve the YAML below ./mesh to Envoys on :15010
  periplus proxy-status                                 who is connected, and has everyone what was sent
  periplus generate -f ./mesh --proxies proxies.yaml    what would these proxies get, without a server
  periplus replay --verify                              fold the journal again and reproduce every response sent
  periplus journal ls --tail 20                         what happened last`,
    );
  const commands = [serveCommand, generateCommand, replayCommand, journalCommand, proxyStatusCommand, demoCommand];
  for (const command of commands) main.addCommand(command());
  return main;
}

async function run(args: readonly string[]): Promise<void> {
  const main = program();
  exitByError(main);
  try {
    await main.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.misuse;
      return;
    }
    const { text, exitCode } = explainError(error);
    process.stderr.write(`periplus: ${text}\n`);
    process.exitCode = exitCode;
  }
}

/** Misuse is an error like any other, with its own exit code, for every command. */
function exitByError(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) exitByError(child);
}

// `periplus journal ls | head` closes our output early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

await run(process.argv.slice(2));
