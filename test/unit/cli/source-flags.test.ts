// What `serve` and `record` say of flags that are probably a mistake. They must not refuse them: istiod's manifests have flags of which Periplus has
// no need.

import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addSourceFlags, oddities, type SourceFlags, sourceOptionsOf } from '../../../src/cli/source-flags.ts';

/** The result for a command line. */
function saidOf(...words: readonly string[]): readonly string[] {
  let said: readonly string[] = [];
  addSourceFlags(new Command('serve'))
    .action((flags: SourceFlags, { args }: Command) => {
      said = oddities(args, sourceOptionsOf(flags));
    })
    .parse(words, { from: 'user' });
  return said;
}

const EMPTY = 'neither --configDir nor a cluster (--kubeconfig) is given: nothing but mesh configuration is read';

test.each([
  [['--configDir', 'mesh'], []],
  [['--kubeconfig', 'file'], []],
  [[], [EMPTY]],
  [['./mesh'], ['ignored, being no flags of Periplus: ./mesh', EMPTY]],
  [
    ['--config-dir', 'mesh'],
    ['ignored, being no flags of Periplus: --config-dir mesh', EMPTY],
  ],
  [['--configDir', 'mesh', '--tlsCertFile=x'], ['ignored, being no flags of Periplus: --tlsCertFile=x']],
])('flags of sources: %j', (words, said) => {
  expect(saidOf(...words)).toEqual(said);
});
