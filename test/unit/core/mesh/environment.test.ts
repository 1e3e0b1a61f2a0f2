// Every environment variable of pilot-discovery is known, and the process warns of those without effect.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ignoredDefinitions } from '../../../../src/adapters/kube/custom-resources.ts';
import { serveCommand } from '../../../../src/cli/serve.ts';
import { environmentProblems, isKnown, READ_BESIDES, UNSUPPORTED } from '../../../../src/core/mesh/environment.ts';
import { durationMs, featureDefaults, featureOf } from '../../../../src/core/mesh/features.ts';
import { defaultSettings } from '../../../../src/core/mesh/settings.ts';
import { settingsFrom } from '../../../../src/runtime/serve-options.ts';

const root = join(import.meta.dirname, '../../../..');
const variables = readFileSync(join(import.meta.dirname, 'istiod-variables.txt'), 'utf8')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'));

/** Every text of the program but the two tables. */
function sources(folder = join(root, 'src')): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !['environment.ts', 'features.ts'].includes(name) && !name.endsWith('.gen.ts'))
    .map(entry => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? sources(path) : readFileSync(path, 'utf8');
    })
    .join('\n');
}

afterEach(() => void vi.unstubAllEnvs());

describe('the tables of environment variables', () => {
  const text = sources();
  const words = new Set(text.match(/\b[A-Z][A-Z0-9_]{3,}\b/g));

  it('know every variable of pilot-discovery', () => {
    expect(variables.length).toBeGreaterThan(150);
    expect(variables.filter(name => !isKnown(name))).toEqual([]);
  });

  it('list as read only what a part of the program names', () => {
    const unread = [...READ_BESIDES, ...Object.keys(featureDefaults)].filter(name => !words.has(name));
    expect(unread).toEqual([]);
  });

  it('call nothing unsupported that a part of the program reads', () => {
    const reads = (name: string): boolean =>
      READ_BESIDES.includes(name) || new RegExp(`(env\\.|feature(Of)?\\([^)]*')${name}\\b`).test(text);
    const contradictions = Object.keys(UNSUPPORTED).filter(reads);
    expect(contradictions).toEqual([]);
  });

  it('stand in the docs: what is unsupported', () => {
    const docs = readFileSync(join(root, 'docs/serving.md'), 'utf8');
    expect(Object.keys(UNSUPPORTED).filter(name => !docs.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the start of the process', () => {
  it('names variables of istiod whose value has no effect, and no others', () => {
    const found = environmentProblems({
      HOME: '/root',
      PILOT_ENABLE_XDS_IDENTITY_CHECK: 'false',
      MCS_API_VERSION: 'v1alpha1',
      PILOT_ENABLE_AGENTGATEWAY: 'true',
      PILOT_OF_TOMORROW: '1',
      PILOT_PORT_15010_TCP_ADDR: '10.0.0.1',
      PILOT_SERVICE_HOST: '10.0.0.1',
      PILOT_HTTP10: 'true',
    });
    expect(found).toEqual([
      'PILOT_ENABLE_AGENTGATEWAY=true: agentgateway is not served',
      expect.stringMatching(/^PILOT_ENABLE_XDS_IDENTITY_CHECK=false: .*refused always$/),
      'PILOT_OF_TOMORROW is not read',
    ]);
  });

  it('takes the id of the cluster from CLUSTER_ID, as manifests of istiod give it', () => {
    vi.stubEnv('CLUSTER_ID', 'east');
    expect(serveCommand().opts().clusterID).toBe('east');
  });

  it('records an empty name of a webhook, which is not the same as none', () => {
    const flags = { domainSuffix: 'cluster.local', clusterId: 'c', systemNamespace: 'istio-system' };
    expect(settingsFrom(flags, { INJECTION_WEBHOOK_CONFIG_NAME: '' }).env).toEqual({
      INJECTION_WEBHOOK_CONFIG_NAME: '',
    });
  });
});

it.each<[string, string, string, boolean]>([
  ['', '', 'gateways.networking.istio.io', false],
  ['*.istio.io', '', 'gateways.networking.istio.io', true],
  ['*.istio.io', 'wasmplugins.extensions.istio.io', 'wasmplugins.extensions.istio.io', false],
  ['*.istio.io', ' *.extensions.istio.io', 'wasmplugins.extensions.istio.io', false],
  ['gateways.networking.istio.io , x', '', 'gateways.networking.istio.io', true],
  ['gateways.networking.istio.io', '', 'gateways.gateway.networking.k8s.io', false],
  ['', '*.istio.io', 'gateways.networking.istio.io', false],
])('PILOT_IGNORE_RESOURCES=%j with PILOT_INCLUDE_RESOURCES=%j ignores %s: %s', (ignore, include, name, expected) => {
  expect(ignoredDefinitions(ignore, include)(name)).toBe(expected);
});

describe('the value of a flag', () => {
  const flag = (name: keyof typeof featureDefaults, value: string) =>
    featureOf({ ...defaultSettings, env: { [name]: value } }, name);

  it('is a duration of Go where the default is a time, else a number', () => {
    expect(flag('PILOT_REMOTE_CLUSTER_TIMEOUT', '1m1.5s')).toBe(61_500);
    expect(flag('PILOT_REMOTE_CLUSTER_TIMEOUT', '0')).toBe(0);
    expect(flag('PILOT_REMOTE_CLUSTER_TIMEOUT', '10')).toBe(featureDefaults.PILOT_REMOTE_CLUSTER_TIMEOUT);
    expect(flag('PILOT_STATUS_QPS', '10')).toBe(10);
    expect(flag('PILOT_STATUS_QPS', '10s')).toBe(featureDefaults.PILOT_STATUS_QPS);
  });

  it.each<[string, number | undefined]>([
    ['.5s', 500],
    ['1.s', 1000],
    ['1500us', 1.5],
    ['500\u00b5s', 0.5],
    ['2000\u03bcs', 2],
    ['500000ns', 0.5],
    ['1h2m3s4ms', 3_723_004],
    ['.s', undefined],
    ['1', undefined],
    ['1 s', undefined],
    ['1d', undefined],
    ['', undefined],
  ])('as a duration %j is %s milliseconds', (text, expected) => {
    const found = durationMs(text);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(expected, 9);
  });
});
