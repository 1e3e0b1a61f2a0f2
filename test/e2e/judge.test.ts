// Envoy as a judge: for every sidecar and gateway of the conformance vectors, and of our golden cases, a stock Envoy
// accepts what Periplus sends it. Needs the vectors beside the project, an Envoy, root and Linux.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isObject, type Json } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import type { ProxyReader } from '../../src/core/query/reader.ts';
import { findEnvoy } from '../../src/demo/envoy.ts';
import type { ResourceSource } from '../../src/xds/assemble/source.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { CDS, EDS, LDS } from '../../src/xds/session/types.ts';
import { type CaseProxy, listCases, readCase } from '../conformance/layout.ts';
import { findVectors } from '../conformance/vectors.ts';
import { makeCertificates } from './certificates.ts';
import { judge } from './envoy-judge.ts';
import { whyNoNamespaces } from './namespaces.ts';
import { canRun } from './suite.ts';

const GROUPS = [
  ...['bookinfo', 'combinations', 'destinationrule', 'dns', 'gateway', 'mesh-config', 'multinetwork', 'peerauth'],
  ...['samples', 'serviceentry', 'sidecar', 'sidecar-basic', 'version-skew', 'virtualservice', 'workloadentry'],
  ...['authz', 'envoyfilter', 'gateway-api', 'gateway-api-mesh', 'ingress', 'requestauth', 'telemetry'],
  ...['trafficextension', 'wasmplugin'],
];
const LIVE_MS_MAX = 60_000;
/** A mistake shows in this time. */
const CANARY_MS_MAX = 8_000;

const vectors = findVectors();
const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const missing =
  ('missing' in vectors ? vectors.missing : undefined) ??
  ('missing' in found ? found.missing : undefined) ??
  whyNoNamespaces();
const runs = canRun('test/e2e/judge.test.ts', missing);
const binary = 'binary' in found ? found.binary : '';
const root = 'cases' in vectors ? vectors.cases : '';
const certificates = makeCertificates('periplus e2e');
/** Cases of our own for what the vectors do not have. */
const ownRoot = join(import.meta.dirname, '../conformance/golden');
/** What a stock Envoy could not accept. */
const beyondStock: Readonly<Record<string, string>> = {
  'ambient/through-a-waypoint': 'its tunnels need a workload certificate, and a stream in the clear brings none',
  'clusters/external-services': 'it names a Secret that does not exist',
  'clusters/gateways-by-name': 'its LOGICAL_DNS cluster has several gateways, as it has of istiod (docs/deviations.md)',
  'clusters/stock-envoy': 'its files are in a folder of the root',
  'clusters/upstreams-of-every-kind': 'its files are in the root, and it names a Secret that does not exist',
  'extensions/telemetry-of-every-provider': 'a Sidecar hides the service of its providers, as in istiod',
  'gateways/servers-of-every-kind': 'its files are in the root',
  'listeners/of-a-sidecar-scope': 'its files are in the root',
  'rules/certificates-from-elsewhere': 'it waits for secrets of a server that is not there',
  'rules/keys-in-hardware': 'private key providers are extensions of other builds',
  'rules/parts-of-others': 'the MySQL filter is an extension of other builds',
  'rules/unnamed-credential': 'it names a Secret that does not exist',
};
/** Vectors that Envoy refuses, as it does of istiod: part of its reason. */
const refused: Readonly<Record<string, string>> = {
  'authz/jwt-claims-with-requestauth': "Jwks doesn't have any valid public key",
  'envoyfilter/bad-operation-for-applyto-invalid': 'Cluster : ',
  'envoyfilter/http-filter-add': 'must be the last filter in a http filter chain',
  'envoyfilter/http-filter-insert-after': 'must be the last filter in a http filter chain',
  'wasmplugin/phase-authn': "Jwks doesn't have any valid public key",
  'wasmplugin/phase-authz': "Jwks doesn't have any valid public key",
  'wasmplugin/phase-unspecified-phase': "Jwks doesn't have any valid public key",
};
const ownCases = listCases(ownRoot, []).filter(name => !Object.hasOwn(beyondStock, name));

/** Types of which istiod, too, left a question of this proxy unanswered. */
function unanswered(folder: string, proxy: string): ReadonlySet<string> {
  const file = join(folder, 'expected', proxy, 'no-response.json');
  if (!existsSync(file)) return new Set();
  return new Set(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).map(type => type.toUpperCase()));
}

/** Certificates for the files that the configuration names: a stock Envoy reads them itself. */
function filesNamedIn(facts: readonly Unrecorded[]): ReadonlyMap<string, string> {
  const contents: Readonly<Record<string, string>> = {
    caCertificates: certificates.certificate,
    clientCertificate: certificates.certificate,
    serverCertificate: certificates.certificate,
    privateKey: certificates.privateKey,
    caCrl: certificates.revocations,
  };
  const files = new Map<string, string>();
  const walk = (value: Json): void => {
    if (Array.isArray(value)) for (const member of value) walk(member);
    if (!isObject(value)) return;
    for (const [key, member] of Object.entries(value)) {
      const content = contents[key];
      if (content !== undefined && typeof member === 'string' && member.startsWith('/')) files.set(member, content);
      else if (member !== undefined) walk(member);
    }
  };
  for (const fact of facts) walk(fact as unknown as Json);
  return files;
}

/** Envoys without an agent: no ztunnels, no proxyless clients. */
const isEnvoy = (proxy: CaseProxy): boolean => !proxy.delta && proxy.watchLds === undefined;

/** What the proxies of a case have against it, a sentence each; the protocols take turns. */
async function complaintsOf(folder: string, index: number): Promise<string> {
  const { facts, proxies } = readCase(folder);
  const complaints: string[] = [];
  for (const [i, proxy] of proxies.filter(isEnvoy).entries()) {
    const found = await judge({
      binary,
      facts,
      // Envoy wants its cluster named; our own cases leave it out.
      node: { cluster: 'judged', ...proxy.node },
      protocol: (index + i) % 2 === 0 ? 'delta' : 'sotw',
      liveMsMax: LIVE_MS_MAX,
      files: filesNamedIn(facts),
      unanswered: unanswered(folder, proxy.name),
    });
    complaints.push(...found.map(complaint => `${proxy.name}: ${complaint}`));
  }
  return complaints.join('\n');
}

describe.runIf(runs)('a stock Envoy accepts the generated resources of', () => {
  const cases = runs ? listCases(root, GROUPS) : [];

  const accepted = cases.filter(name => !Object.hasOwn(refused, name));
  it.concurrent.each(accepted.map((name, index) => [name, index] as const))('%s', async (name, index) => {
    expect(await complaintsOf(join(root, name), index)).toBe('');
  });

  it.concurrent.each(Object.entries(refused))('%s, but for what it refuses of istiod, too', async (name, reason) => {
    expect(await complaintsOf(join(root, name), 0)).toContain(reason);
  });

  it.concurrent.each(ownCases.map((name, index) => [name, index] as const))('golden case %s', async (name, index) => {
    expect(await complaintsOf(join(ownRoot, name), index)).toBe('');
  });

  it('more than 300 cases, some of every group', () => {
    for (const group of GROUPS) expect(readdirSync(join(root, group)).length, group).toBeGreaterThan(0);
    expect(cases.length).toBeGreaterThan(300);
  });
});

describe.runIf(runs)('canary: the judge rejects', () => {
  const folder = join(root, 'sidecar-basic');
  const [first = ''] = runs ? readdirSync(folder).sort() : [];
  const given = runs ? readCase(join(folder, first)) : { facts: [], proxies: [] };
  const [proxy] = given.proxies.filter(isEnvoy);

  /** The resources as they are, and one more. */
  const with1 = (url: string, name: string, message: object): readonly ResourceSource[] =>
    resourceSources.map(source => {
      const { all } = source;
      if (source.url !== url || all === undefined) return source;
      const run = (reader: ProxyReader, arg: '') => [...all.run(reader, arg), { name, message, problems: [] }];
      return { url, all: { name: `${all.name}/one-more`, run } };
    });
  const judged = (protocol: 'delta' | 'sotw', sources: readonly ResourceSource[]): Promise<readonly string[]> =>
    judge({ binary, facts: given.facts, node: proxy?.node ?? {}, protocol, liveMsMax: CANARY_MS_MAX, sources });

  it.each(['delta', 'sotw'] as const)('a cluster that Envoy refuses (%s)', async protocol => {
    const nowhere = { address: { socketAddress: { address: 'nowhere', portValue: 1 } } };
    const loadAssignment = { clusterName: 'bad', endpoints: [{ lbEndpoints: [{ endpoint: nowhere }] }] };
    const cluster = { name: 'bad', connectTimeout: { seconds: 1, nanos: 0 }, loadAssignment };
    const complaints = await judged(protocol, with1(CDS, 'bad', cluster));
    expect(complaints.join('\n')).toMatch(/refuses .*Cluster bad: .*malformed IP address: nowhere/s);
  });

  it('two listeners on one port', async () => {
    const address = { socketAddress: { address: '0.0.0.0', portValue: 15_001 } };
    const complaints = await judged('delta', with1(LDS, 'second', { name: 'second', address, filterChains: [{}] }));
    expect(complaints.join('\n')).toMatch(/refuses .*Listener .*has duplicate address/s);
  });

  it('clusters whose endpoints never arrive', async () => {
    const sources = resourceSources.map(source =>
      source.url === EDS ? { url: EDS, named: { name: 'e2e/silence', run: () => undefined } } : source,
    );
    expect((await judged('sotw', sources)).join('\n')).toMatch(/live after .*warming_clusters [1-9]/);
  });
});
