// What JSON and YAML of Kubernetes may look like: integers or strings, booleans that are words, base64, durations,
// numbers as text, null.

import { describe, expect, test } from 'vitest';
import { parseDocuments } from '../../../../src/adapters/file/parse.ts';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import { definitions } from '../../../../src/core/kinds/registry.ts';
import { decodedOf, problemsOf, withSpec } from './verdict.ts';

const service = (port: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a', namespace: 'prod' },
  spec: { ports: [{ port: 80, ...port }] },
});

describe('an integer or string', () => {
  test.each([8080, 'http'])('may be the target port %j', targetPort => {
    expect(decodedOf('Service', service({ targetPort })).ports[0]?.targetPort).toBe(targetPort);
  });
  test.each([1.5, true, { a: 1 }])('may not be the target port %j', targetPort => {
    expect(problemsOf(service({ targetPort }))).toHaveLength(1);
  });
});

describe('the API server does not convert numbers and text:', () => {
  const rule = (trafficPolicy: JsonObject): readonly string[] =>
    problemsOf(withSpec('DestinationRule', { host: 'a', trafficPolicy }));
  test.each<[JsonObject, readonly string[]]>([
    [{ connectionPool: { tcp: { maxConnections: 5 } } }, []],
    [
      { connectionPool: { tcp: { maxConnections: '5' } } },
      ['spec.trafficPolicy.connectionPool.tcp.maxConnections: expected an integer, found the string "5"'],
    ],
    [{ outlierDetection: { consecutive5xxErrors: null } }, []],
    [
      { outlierDetection: { interval: null } },
      ['spec.trafficPolicy.outlierDetection.interval: null is not allowed here'],
    ],
    [{ outlierDetection: { interval: '1.5s' } }, []],
    [{ outlierDetection: { interval: '1h2m3s4ms' } }, []],
    [
      { outlierDetection: { interval: 5 } },
      ['spec.trafficPolicy.outlierDetection.interval: expected a duration such as 5s, 100ms or 1h30m, found 5'],
    ],
    [
      { outlierDetection: { interval: '5' } },
      [
        'spec.trafficPolicy.outlierDetection.interval: expected a duration such as 5s, 100ms or 1h30m, found the string "5"',
      ],
    ],
    [
      { tls: { mode: 'simple' } },
      ['spec.trafficPolicy.tls.mode: expected one of DISABLE, SIMPLE, MUTUAL, ISTIO_MUTUAL, found the string "simple"'],
    ],
    [{ tls: { mode: 1 } }, ['spec.trafficPolicy.tls.mode: expected a string, found 1']],
    [{ outlier_detection: {} }, ['spec.trafficPolicy.outlier_detection: unknown field']],
  ])('%j has the problems %j', (policy, problems) => {
    expect(rule(policy)).toEqual(problems);
  });
});

describe('base64 data', () => {
  const secret = (value: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'prod' },
    data: { k: value },
  });
  test.each(['', 'YQ==', 'YWI='])('such as %j is accepted', value => {
    expect(problemsOf(secret(value))).toEqual([]);
  });
  test.each(['a', '%', 'YQ=x'])('such as %j is refused', value => {
    expect(problemsOf(secret(value))).toHaveLength(1);
  });
});

/** kubectl and istiod read YAML 1.1, where more words are booleans than in 1.2. */
test.each([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['Off', false],
  ['n', false],
  ['"yes"', 'yes'],
  ['1s', '1s'],
  ['012', 10],
  ['1_000', 1000],
  ['0x1F', 31],
  ['~', null],
])('the YAML scalar %s is %j', (text, value) => {
  const parsed = parseDocuments('a.yaml', `a: ${text}`);
  expect('documents' in parsed ? parsed.documents.map(document => document.value) : parsed).toEqual([{ a: value }]);
});

describe('a quantity', () => {
  const pod = (cpu: Json): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'prod' },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu, memory: '1Gi' } } }], overhead: { cpu } },
  });
  /** Nothing that proxies are sent depends on one: they may be texts or numbers, and a change of one is no change. */
  test.each<[Json]>([['100m'], ['0.1'], [0.1], [1], ['1e3'], ['12Mi'], [null]])(
    'such as %j in a pod is not validated',
    cpu => {
      expect(problemsOf(pod(cpu))).toEqual([]);
      const { project } = definitions.Pod;
      expect(project(pod(cpu))).toEqual(project(pod('5')));
    },
  );
  test('of a node is not validated', () => {
    const node = (memory: Json): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      status: { capacity: { memory, pods: '110' }, addresses: [{ type: 'ExternalIP', address: '8.8.8.8' }] },
    });
    expect(problemsOf(node(16_384_000))).toEqual([]);
    expect(definitions.Node.project(node('16Gi'))).toEqual(definitions.Node.project(node(1)));
  });
});

describe('a duration', () => {
  const timeout = (text: Json): readonly string[] =>
    problemsOf(
      withSpec('VirtualService', {
        hosts: ['a.com'],
        http: [{ timeout: text, route: [{ destination: { host: 'b' } }] }],
      }),
    );
  test.each(['1s', '0.5s', '1h30m', '250ms', '1m0.5s', '+2s'])('such as %s is accepted', text => {
    expect(timeout(text)).toEqual([]);
  });
  test.each([['1'], [1], ['s'], [''], ['1 s'], ['1d'], ['1s2'], [true], [{}]])('such as %j is refused', text => {
    expect(timeout(text)).toHaveLength(1);
  });
});

describe('a YAML file, read as by Kubernetes,', () => {
  const decoded = (yaml: string): JsonObject => {
    const parsed = parseDocuments('a.yaml', yaml);
    if (!('documents' in parsed)) throw new Error(parsed.reason);
    return parsed.documents[0]?.value as JsonObject;
  };
  test('requires quotes around a label that is a YAML 1.1 boolean, as kubectl does', () => {
    const of = (value: string): JsonObject =>
      decoded(`apiVersion: v1\nkind: Namespace\nmetadata: {name: a, labels: {mesh: ${value}}}`);
    expect(problemsOf(of('"on"'))).toEqual([]);
    expect(problemsOf(of('on'))).toEqual(['metadata.labels[mesh]: expected a string, found true']);
    expect(problemsOf(of('8080'))).toEqual(['metadata.labels[mesh]: expected a string, found 8080']);
  });
  test('may contain anchors, block text and JSON', () => {
    const map = decoded(
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {"name": "a"}\ndata:\n  a: &x |\n    one\n    two\n  b: *x\n',
    );
    expect(decodedOf('ConfigMap', map).data).toEqual({ a: 'one\ntwo\n', b: 'one\ntwo\n' });
  });
});

describe('Istio does not validate', () => {
  const long = 'a'.repeat(100);
  const rule = { route: [{ destination: { host: 'a.' } }] };
  const routed = (http: JsonObject, more: JsonObject = {}): readonly string[] =>
    problemsOf(withSpec('VirtualService', { hosts: ['*.a.'], http: [{ ...rule, ...http }], ...more }));

  test('the length of a label value inside of a specification', () => {
    expect(problemsOf(withSpec('WorkloadEntry', { address: '10.0.0.1', labels: { app: long } }))).toEqual([]);
    expect(problemsOf(withSpec('WorkloadEntry', { address: '10.0.0.1', labels: { app: `${long}-` } }))).toHaveLength(1);
  });

  test('the gateways after the first that is named without a namespace', () => {
    expect(routed({}, { gateways: ['mesh', '127.0.0.1:80'] })).toEqual([]);
    expect(routed({}, { gateways: ['prod/gate', '127.0.0.1:80'] })).toHaveLength(1);
  });

  test('how much over a hundred the old percentage of a delay is', () => {
    expect(routed({ fault: { delay: { fixedDelay: '1s', percent: 101 } } })).toEqual([]);
    expect(routed({ fault: { delay: { fixedDelay: '1s', percent: -1 } } })).toHaveLength(1);
  });

  test('a field under its old name, if the new one exists', () => {
    expect(routed({ mirror: { host: 'a' }, mirror_percent: 5, mirrorPercent: 6 })).toEqual([]);
  });

  test('the answer of a rule that delegates, since its delegate may use it', () => {
    const root = { delegate: { name: 'd' }, directResponse: { status: 404 }, route: [] };
    expect(problemsOf(withSpec('VirtualService', { hosts: ['a'], http: [root] }))).toEqual([]);
  });

  test('the position of a wildcard in a host', () => {
    const servers = [{ port: { number: 80, name: 'h', protocol: 'HTTP' }, hosts: ['*.'] }];
    expect(problemsOf(withSpec('Gateway', { selector: { a: 'b' }, servers }))).toEqual([]);
  });

  test.each([
    ['10.0.0.1', 0],
    ['::1', 1],
  ])('%s as the host of a server: an address has to have a dot', (host, problems) => {
    const servers = [{ port: { number: 80, name: 'h', protocol: 'HTTP' }, hosts: [host] }];
    expect(problemsOf(withSpec('Gateway', { selector: { a: 'b' }, servers }))).toHaveLength(problems);
  });
});
