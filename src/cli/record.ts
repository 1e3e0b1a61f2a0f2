// periplus record: records a live cluster beside the control plane that serves it. Serves no proxy, listens on no port,
// writes nothing to the cluster: get, list and watch are all it asks for.

import { Command } from 'commander';
import { systemClock } from '../runtime/clock.ts';
import { startRecorder } from '../runtime/recorder.ts';
import { startedUnless, stoppedEarly, stopSignal } from './signals.ts';
import { addSourceFlags, logOf, oddities, requireFolder, type SourceFlags, sourceOptionsOf } from './source-flags.ts';

/** How long a start that is to stop may take until it is given up. */
const START_MS_MAX = 10_000;

export function recordCommand(): Command {
  const command = new Command('record').description(
    'record what happens in a cluster or a folder, beside the control plane that serves it',
  );
  return addSourceFlags(command).action(async (flags: SourceFlags, cli: Command) => {
    requireFolder(flags);
    const log = logOf(flags);
    const options = sourceOptionsOf(flags);
    for (const oddity of oddities(cli.args, options, cli, flags.ignoreUnknownFlags)) log('warn', oddity);
    const stopped = stopSignal(log);
    const recorder = await startedUnless(stopped, startRecorder(options, systemClock, log), START_MS_MAX);
    if (recorder === undefined) return stoppedEarly(log);
    log('info', `recording into ${flags.journal}`);
    await stopped;
    await recorder.stop();
    log('info', 'stopped');
  });
}
