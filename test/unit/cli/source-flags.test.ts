// What `serve` and `record` say of flags that are probably a mistake. Flags of istiod are never refused: its manifests
// have flags of which Periplus has no need.

import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { type IdentityFlags, identityOptionsOf } from '../../../src/cli/identity-flags.ts';
import { serveCommand } from '../../../src/cli/serve.ts';
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

/** Flags of istiod's discovery command. Source: Istio pilot/cmd/pilot-discovery/app/cmd.go, pkg/ctrlz, pkg/log. */
const OF_DISCOVERY = {
  alone: ['--log_as_json', '--profile'],
  withValue: [
    ...['--registries', '--clusterRegistriesNamespace', '--kubeconfig', '--meshConfig', '--networksConfig', '-n'],
    ...['--namespace', '--cniNamespace', '--shutdownDuration', '--configDir', '--domain', '--clusterID'],
    ...['--clusterAliases', '--httpAddr', '--httpsAddr', '--grpcAddr', '--secureGRPCAddr', '--monitoringAddr'],
    ...['--caCertFile', '--tlsCertFile', '--tlsKeyFile', '--tls-cipher-suites', '--tls-min-version'],
    ...['--kubernetesApiQPS', '--kubernetesApiBurst', '--keepaliveInterval', '--keepaliveTimeout'],
    ...['--keepaliveMaxServerConnectionAge', '--ctrlz_port', '--ctrlz_address', '--log_output_level', '--log_caller'],
    ...['--log_stacktrace_level', '--log_target', '--log_rotate', '--log_rotate_max_age', '--log_rotate_max_backups'],
    ...['--log_rotate_max_size', '--vklog'],
  ],
};

describe('serve', () => {
  test.each([...OF_DISCOVERY.alone.map(flag => [flag]), ...OF_DISCOVERY.withValue.map(flag => [flag, '1'])])(
    'knows the flag %s of istiod, or says that it is ignored',
    (...words) => {
      const command = serveCommand();
      const { unknown } = command.parseOptions(words);
      const known = sourceOptionsOf({ ...serveCommand().opts<SourceFlags>(), configDir: 'mesh' });
      const said = oddities(unknown, known, command, false);
      expect(said).toEqual(unknown.length === 0 ? [] : [`ignored, being no flags of Periplus: ${unknown.join(' ')}`]);
    },
  );

  test('takes the address of the secure port by the name that istiod has for it', () => {
    const command = serveCommand();
    command.parseOptions(['--secureGRPCAddr', ':25012']);
    expect(identityOptionsOf(command.opts<IdentityFlags>(), 'journal.db')?.secureGrpcAddr).toMatchObject({
      port: 25_012,
    });
    command.parseOptions(['--secureGRPCAddr', '']);
    expect(identityOptionsOf(command.opts<IdentityFlags>(), 'journal.db')).toBeUndefined();
  });
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
