// The commands put together, and how a run of them ends: errors become one line on stderr and an exit code.

import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { Command, CommanderError } from 'commander';
import { VERSION } from '../admin/version.ts';
import { analyzeCommand } from './analyze.ts';
import { authzCommand } from './authz.ts';
import { bisectCommand } from './bisect.ts';
import { demoCommand } from './demo.ts';
import { diffCommand } from './diff.ts';
import { explainCommand } from './explain.ts';
import { generateCommand } from './generate.ts';
import { identitiesCommand } from './identities.ts';
import { incidentCommand } from './incident.ts';
import { journalCommand } from './journal.ts';
import { EXIT, explainError } from './output.ts';
import { proxyConfigCommand } from './proxy-config.ts';
import { proxyStatusCommand } from './proxy-status.ts';
import { recordCommand } from './record.ts';
import { replayCommand } from './replay.ts';
import { requestCommand } from './request.ts';
import { serveCommand } from './serve.ts';
import { waitCommand } from './wait.ts';
import { wishesCommand } from './wishes.ts';

export function program(): Command {
  const main = new Command('periplus')
    .description(
      'An Istio control plane that keeps a journal: serve a mesh, and replay what happened to the very same bytes.',
    )
    .version(VERSION, '-V, --version')
    .showHelpAfterError('(--help lists the options)')
    .addHelpText(
      'after',
      `
Examples:
  periplus serve --configDir ./mesh                     serve the YAML below ./mesh to Envoys on :15010
  periplus serve --kubeconfig ~/.kube/config            serve what a cluster has
  periplus record --kubeconfig ~/.kube/config           journal a cluster, beside the control plane that serves it
  periplus proxy-status                                 who is connected, and has everyone what was sent
  periplus proxy-config route productpage --at 14:03    the routes of a proxy, now or at any time before
  periplus diff -f reviews.yaml                         what would this file change, and would it break something
  periplus wait --for VirtualService/shop/reviews       until every proxy has it
  periplus explain virtual-host reviews -p productpage  which objects, fields and events made these routes
  periplus bisect -p productpage --cluster-missing      the event that broke it
  periplus incident --since 20m                         what broke for any proxy, and what broke first
  periplus generate -f ./mesh --proxies proxies.yaml    what would these proxies get, without a server
  periplus analyze -f ./mesh                            what is refused, and what refers to nothing
  periplus authz can shop/web reviews.shop              may this caller, and which policy says so
  periplus replay --verify                              fold the journal again and reproduce every response sent
  periplus identities reviews --at 14:03                who held which certificate then
  periplus journal ls --tail 20                         what happened last`,
    );
  const commands = [
    serveCommand,
    recordCommand,
    generateCommand,
    analyzeCommand,
    authzCommand,
    replayCommand,
    journalCommand,
    proxyStatusCommand,
    waitCommand,
    wishesCommand,
    proxyConfigCommand,
    explainCommand,
    identitiesCommand,
    requestCommand,
    diffCommand,
    bisectCommand,
    incidentCommand,
    demoCommand,
  ];
  for (const command of commands) main.addCommand(command());
  exitByError(main);
  return main;
}

/** Sets process.exitCode. */
export async function run(args: readonly string[]): Promise<void> {
  // What goes wrong there comes as an error; lines of its own would stand between those of our log, which may be JSON.
  if (process.env.GRPC_VERBOSITY === undefined) setLogVerbosity(logVerbosity.NONE);
  try {
    await program().parseAsync(args, { from: 'user' });
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
