// Istio's own golden files of its authorization builder (pilot/pkg/security/authz/builder): the filters of one
// workload. They lie beside the project with the conformance vectors; without them this suite says by name that it did
// not run, and fails under PERIPLUS_REQUIRE_ALL=1.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ProxyReader, Query } from '../../src/core/query/reader.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { authorizationOf } from '../../src/xds/assemble/listener/policy-filters.ts';
import { encodeMessage } from '../../src/xds/engine/encode.ts';
import type { Filter, HttpFilter } from '../../src/xds/proto/types.gen.ts';
import { toProtoJson } from '../../src/xds/wire/protojson.ts';
import { nodeOf, proxyOf, world } from '../unit/world.ts';
import { findVectors } from './vectors.ts';

interface GoldenCase {
  readonly name: string;
  readonly input: string;
  readonly want: readonly string[];
  readonly meshConfig: string | null;
  readonly trustDomain?: string;
  readonly trustDomainAliases?: readonly string[];
}
interface GoldenCases {
  readonly http: readonly GoldenCase[];
  readonly tcp: readonly GoldenCase[];
  readonly meshConfigs: Readonly<Record<string, JsonObject>>;
}
type Chain = 'http' | 'tcp';

const vectors = findVectors();
const folder = 'missing' in vectors ? '' : join(dirname(vectors.cases), 'goldens/authz');
const missing = folder === '' || !existsSync(join(folder, 'cases.json'));

const service = `{apiVersion: v1, kind: Service, metadata: {name: my-custom-ext-authz, namespace: foo}, spec: {clusterIP: 10.0.0.1, ports: [{name: grpc, port: 9000}]}}`;

const generated: Query<Chain, readonly (HttpFilter | Filter)[]> = {
  name: 'test/authorizationFilters',
  run: (reader: ProxyReader, chain) => {
    const { custom, rules } = authorizationOf(reader, { chain, beside: '', subject: '', peer: 'tls' });
    return [...custom, ...rules];
  },
};

function filtersOf(
  chain: Chain,
  { input, meshConfig, trustDomain, trustDomainAliases }: GoldenCase,
  cases: GoldenCases,
): readonly Json[] {
  const mesh = {
    ...(meshConfig === null ? {} : cases.meshConfigs[meshConfig]),
    ...(trustDomain === undefined ? {} : { trustDomain }),
    ...(trustDomainAliases === undefined ? {} : { trustDomainAliases }),
  };
  const state = world([service, readFileSync(join(folder, chain, input), 'utf8')], { mesh });
  const proxy = proxyOf(nodeOf({ namespace: 'foo', name: 'httpbin', labels: { app: 'httpbin', version: 'v1' } }));
  const type =
    chain === 'tcp'
      ? 'envoy.config.listener.v3.Filter'
      : 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter';
  return new Tracker()
    .get(state, proxy, generated, chain)
    .map(filter => toProtoJson(type, encodeMessage(type, filter)));
}

/** The same message whichever way the file writes it. */
function expectedOf(chain: Chain, file: string): Json {
  return parse(readFileSync(join(folder, chain, file), 'utf8')) as Json;
}

if (missing) {
  describe("Istio's golden files of authorization", () => {
    it('exist beside the project if these cases are to run', () => {
      if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error('no ../shared/conformance/goldens/authz');
      process.stderr.write(
        "Istio's golden files of authorization did NOT run: no conformance vectors beside the project\n",
      );
    });
  });
} else {
  const cases = JSON.parse(readFileSync(join(folder, 'cases.json'), 'utf8')) as GoldenCases;
  describe.each(['http', 'tcp'] as const)('Istio’s golden files of authorization over %s are reproduced', chain => {
    it.each(cases[chain].map(one => [one.name, one] as const))('%s', (_, one) => {
      expect(filtersOf(chain, one, cases)).toEqual(one.want.map(file => expectedOf(chain, file)));
    });
  });
}
