// periplus demo: what `npm start` runs.

import { Command } from 'commander';
import { runDemo } from '../demo/demo.ts';
import { print, tellLog } from './output.ts';

export function demoCommand(): Command {
  return new Command('demo')
    .description('the Bookinfo sample on loopback: control plane, backends and two real Envoys; what `npm start` runs')
    .option('--folder <dir>', 'where the served copy of the sample and the journal lie', '.periplus')
    .option('--fresh', 'start over: delete the copy and the journal of the last run', false)
    .action((options: { folder: string; fresh: boolean }) => runDemo(options, print, tellLog));
}
