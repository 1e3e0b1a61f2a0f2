// Istio's golden files of its Gateway API controller: inputs, what they are translated into, the statuses that are
// written. They lie beside the project with the conformance vectors.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Fact } from '../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../src/core/mesh/settings.ts';
import type { State } from '../../src/core/state.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { findVectors } from './vectors.ts';

const vectors = findVectors();
export const goldenFolder = 'missing' in vectors ? '' : join(dirname(vectors.cases), 'goldens/gateway-api');
export const missing = goldenFolder === '' || !existsSync(join(goldenFolder, 'fixtures.json'));

const SOURCE = 'file/Kubernetes';
const ENV = {
  PILOT_ENABLE_ALPHA_GATEWAY_API: 'true',
  PILOT_ENABLE_AMBIENT: 'true',
  AMBIENT_ENABLE_MULTI_NETWORK: 'true',
  ENABLE_GATEWAY_API_INFERENCE_EXTENSION: 'true',
};

export function goldenNames(): readonly string[] {
  return readdirSync(goldenFolder)
    .filter(file => file.endsWith('.status.yaml.golden'))
    .map(file => file.slice(0, -'.status.yaml.golden'.length))
    .sort();
}

export function documents(file: string): readonly JsonObject[] {
  return parseAllDocuments(readFileSync(join(goldenFolder, file), 'utf8'))
    .map(document => document.toJSON() as JsonObject | null)
    .filter(object => object !== null);
}

interface GoldenWorld {
  readonly state: State;
  readonly inputs: readonly JsonObject[];
  readonly refused: readonly string[];
}

/** The objects of a case beside the services, secrets and namespaces that all cases share. */
export function goldenWorld(name: string): GoldenWorld {
  const inputs = documents(`${name}.yaml`).map(sized);
  const namespaces = new Set(inputs.map(({ metadata }) => (metadata as JsonObject).namespace).filter(Boolean));
  const objects = [...fixtures(), ...[...namespaces].map(namespace => namespaceOf(String(namespace))), ...inputs];
  const settings = settingsToJson({ ...defaultSettings, domainSuffix: 'domain.suffix', env: ENV });
  const facts: (Fact & { readonly source: string })[] = [{ source: 'runtime', kind: 'Engine', settings }];
  for (const object of objects) facts.push({ source: SOURCE, kind: 'Add', object: object as never });
  const { state, effects } = foldFacts(facts);
  const refused = effects.flatMap(effect =>
    effect.kind === 'Verdict' && !effect.accepted ? [`${effect.object}: ${JSON.stringify(effect.problems)}`] : [],
  );
  return { state, inputs, refused };
}

/** Some names of the goldens are none that an API server takes. */
function sized(object: JsonObject): JsonObject {
  const metadata = object.metadata as JsonObject;
  return { ...object, metadata: { ...metadata, name: String(metadata.name).toLowerCase() } };
}

const svc = (namespace: string, name: string, more: JsonObject = {}, status: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: {
    clusterIP: 'None',
    ports: [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'tcp', port: 34000 },
      { name: 'tcp-other', port: 34001 },
    ],
    ...more,
  },
  status,
});

function fixtures(): readonly JsonObject[] {
  const { services } = JSON.parse(readFileSync(join(goldenFolder, 'fixtures.json'), 'utf8')) as {
    readonly services: readonly { readonly namespace: string; readonly hostname: string }[];
  };
  const found: JsonObject[] = [];
  for (const { namespace, hostname } of services) {
    if (!hostname.endsWith('.svc.domain.suffix')) {
      found.push({
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { namespace, name: hostname },
        spec: {
          hosts: [hostname],
          ports: [
            { number: 80, name: 'http', protocol: 'HTTP' },
            { number: 34000, name: 'tcp', protocol: 'TCP' },
          ],
          resolution: 'STATIC',
          location: 'MESH_INTERNAL',
          endpoints: [{ address: '9.9.9.9', ports: { http: 8080 } }],
        },
      });
      continue;
    }
    const name = hostname.split('.')[0]!;
    found.push(...serviceObjects(namespace, name));
  }
  return [...found, ...secrets()];
}

function serviceObjects(namespace: string, name: string): readonly JsonObject[] {
  const ports =
    name === 'istio-ingressgateway'
      ? [
          { name: 'http', port: 80, targetPort: 8080 },
          { name: 'https', port: 443 },
          { name: 'tcp', port: 34000 },
          { name: 'tcp-other', port: 34001 },
        ]
      : undefined;
  const spec: JsonObject = {
    clusterIP: 'None',
    ...(ports === undefined ? {} : { ports }),
    ...(name === 'istio-ingressgateway' ? { externalIPs: ['1.2.3.4'] } : {}),
  };
  const numbers = (
    ports ?? [
      { name: 'http', port: 80 },
      { name: 'tcp', port: 34000 },
      { name: 'tcp-other', port: 34001 },
    ]
  ).map((port, i) => ({ name: port.name, port: i === 0 ? 8080 : port.port }));
  return [
    svc(namespace, name, spec),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name: `${name}-x`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
      ports: numbers,
    },
  ];
}

function namespaceOf(name: string): JsonObject {
  const part = name.split('-')[0]!;
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'istio.io/test-name-part': part } } };
}

const SECRETS: readonly (readonly [string, string])[] = [
  ['istio-system', 'my-cert-http'],
  ['ns2', 'ns2-cert'],
  ['ns3', 'ns3-cert'],
  ['ns4', 'ns4-cert'],
  ['istio-system', 'my-cert'],
  ['istio-system', 'my-cert-http2'],
  ['cert', 'cert'],
  ['bookinfo', 'bookinfo-secret'],
  ['bookinfo', 'another-secret'],
];

function secrets(): readonly JsonObject[] {
  const pair = certificatePair();
  const secret = (namespace: string, name: string, data: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    data,
  });
  const map = (namespace: string, name: string, data: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
    data,
  });
  const pem = Buffer.from(pair['tls.crt'], 'base64').toString('utf8');
  const bad = Buffer.from('SGVsbG8gd29ybGQK').toString('base64');
  return [
    ...SECRETS.map(([namespace, name]) =>
      secret(namespace, name, { ...pair, ...(name === 'my-cert-http' ? { 'ca.crt': pair['tls.crt'] } : {}) }),
    ),
    secret('istio-system', 'malformed', { 'tls.crt': bad, 'tls.key': bad }),
    map('istio-system', 'malformed', { 'not-ca.crt': 'hello' }),
    map('istio-system', 'malformed-trustbundle', { 'ca.crt': 'hello' }),
    map('istio-system', 'my-cert-http', { 'ca.crt': pem }),
    map('default', 'malformed', { 'not-ca.crt': 'hello' }),
    map('default', 'auth-cert', { 'ca.crt': pem }),
  ];
}

/** A pair that belongs together, of a conformance case. */
function certificatePair(): { readonly 'tls.crt': string; readonly 'tls.key': string } {
  const file = join(goldenFolder, '../../cases/gateway-api/tlsroute-terminate/input.yaml');
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const object = document.toJSON() as { kind?: string; data?: Record<string, string> } | null;
    if (object?.kind === 'Secret') return { 'tls.crt': object.data!['tls.crt']!, 'tls.key': object.data!['tls.key']! };
  }
  throw new Error(`no Secret in ${file}`);
}

export type { Json };
