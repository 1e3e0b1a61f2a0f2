// The commands put together, and how a run of them ends: errors become one line on stderr and an exit code.

import { Command, CommanderError } from 'commander';
import { VERSION } from '../admin/version.ts';
import { EXIT, explainError, tell, tellLog } from './output.ts';

/** Each is loaded when it is run, or when all are listed: most need no gRPC, no Kubernetes client and no SQLite. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  record: async () => (await import('./record.ts')).recordCommand(),
  generate: async () => (await import('./generate.ts')).generateCommand(),
  analyze: async () => (await import('./analyze.ts')).analyzeCommand(),
  authz: async () => (await import('./authz.ts')).authzCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  journal: async () => (await import('./journal.ts')).journalCommand(),
  'proxy-status': async () => (await import('./proxy-status.ts')).proxyStatusCommand(),
  wait: async () => (await import('./wait.ts')).waitCommand(),
  wishes: async () => (await import('./wishes.ts')).wishesCommand(),
  withdraw: async () => (await import('./withdraw.ts')).withdrawCommand(),
  'proxy-config': async () => (await import('./proxy-config.ts')).proxyConfigCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  identities: async () => (await import('./identities.ts')).identitiesCommand(),
  request: async () => (await import('./request.ts')).requestCommand(),
  trace: async () => (await import('./trace.ts')).traceCommand(),
  diff: async () => (await import('./diff.ts')).diffCommand(),
  bisect: async () => (await import('./bisect.ts')).bisectCommand(),
  ui: async () => (await import('./ui.ts')).uiCommand(),
  incident: async () => (await import('./incident.ts')).incidentCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(),
  version: async () => (await import('./version.ts')).versionCommand(),
  demo: async () => (await import('./demo.ts')).demoCommand(),
};
const aliases: Readonly<Record<string, string>> = { discovery: 'serve', pc: 'proxy-config', ps: 'proxy-status' };

/** `word`: the command that will run; undefined, or none of them: all commands, for help and for misspelt names. */
export async function program(word?: string): Promise<Command> {
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
  periplus trace --from productpage --to reviews:9080   what happens to this request, step by step
  periplus authz can shop/web reviews.shop              may this caller, and which policy says so
  periplus replay --verify                              fold the journal again and reproduce every response sent
  periplus ui incident.jsonl                            look at a journal in the browser: timeline, mesh, what if
  periplus identities reviews --at 14:03                who held which certificate then
  periplus journal ls --tail 20                         what happened last`,
    );
  // Answered by the program itself.
  if (word === '-V' || word === '--version') return main;
  const only = word === undefined ? undefined : commands[aliases[word] ?? word];
  for (const load of only === undefined ? Object.values(commands) : [only]) main.addCommand(await load());
  if (only === undefined) {
    const { completeCommand } = await import('./completion.ts');
    main.addCommand(completeCommand(program), { hidden: true });
  }
  exitByError(main);
  return main;
}

/** Sets process.exitCode. */
export async function run(args: readonly string[]): Promise<void> {
  // What goes wrong there comes as an error; lines of its own would stand between those of our log, which may be JSON.
  process.env.GRPC_VERBOSITY ??= 'NONE';
  try {
    await (await program(args[0])).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.misuse;
      return;
    }
    const { text, exitCode } = explainError(error);
    tell(`periplus: ${text}`);
    process.exitCode = exitCode;
  }
}

/** Misuse is an error like any other, with its own exit code, for every command. */
function exitByError(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: tellLog });
  for (const child of command.commands) exitByError(child);
}
