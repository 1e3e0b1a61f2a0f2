// What `serve` and `record` say of flags that are probably a mistake. Flags of istiod are never refused: its manifests have flags of which
// Periplus has no need.

import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addSourceFlags, oddities, type SourceFlags, sourceOptionsOf } from '../../../src/cli/source-flags.ts';

/** The result for a command line. */
function saidOf(...words: readonly string[]): readonly string[] {
  let said: readonly string[] = [];
  addSourceFlags(new Command('serve'))
    .action((flags: SourceFlags, command: Command) => {
      said = oddities(command.args, sourceOptionsOf(flags), command, flags.ignoreUnknownFlags);
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
    ['--config-dir', 'mesh', '--ignore-unknown-flags'],
    ['ignored, being no flags of Periplus: --config-dir mesh', EMPTY],
  ],
  [['--configDir', 'mesh', '--tlsCertFile=x'], ['ignored, being no flags of Periplus: --tlsCertFile=x']],
])('flags of sources: %j', (words, said) => {
  expect(saidOf(...words)).toEqual(said);
});

test('a flag that neither Periplus nor istiod knows is an error that names the nearest one', () => {
  expect(() => saidOf('--configDri', 'mesh')).toThrow(
    '--configDri: there is no such flag; nearest: --configDir; --ignore-unknown-flags passes over it',
  );
});

test('the flag for a ConfigMap that lists clusters is refused with what took its place, also leniently', () => {
  const old = ['--clusterRegistriesConfigMap', 'clusters'] as const;
  for (const words of [old, [...old, '--ignore-unknown-flags']]) {
    expect(() => saidOf(...words)).toThrow('Secret with the label istio/multiCluster=true');
  }
});
