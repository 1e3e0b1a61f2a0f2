// What the log says to those who wrote the configuration.

import { expect, test } from 'vitest';
import type { Adapter } from '../../../src/adapters/adapter.ts';
import type { Problem } from '../../../src/core/base/problem.ts';
import type { Effect } from '../../../src/core/effect.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { OBJECTS_SHOWN_MAX, PROBLEMS_SHOWN_MAX, Reporter } from '../../../src/runtime/reporter.ts';
import { step } from '../world.ts';

const adapter: Adapter = {
  source: 'file/Kubernetes',
  start: async () => undefined,
  stop: async () => undefined,
  status: () => ({ synced: true, waiting: [], troubles: [], unreadable: [] }),
  locate: async places =>
    places.map(({ origin, path }) => (path === 'spec.hosts' ? { ...origin, line: 7, column: 3 } : undefined)),
};

async function said(
  use: (reporter: Reporter) => void,
  adapters: readonly Adapter[] = [adapter],
): Promise<readonly string[]> {
  const lines: string[] = [];
  use(new Reporter((level, message) => lines.push(`${level} ${message}`), adapters));
  // Places are looked up before a line is written.
  for (let i = 0; i < 100; i++) await Promise.resolve();
  return lines;
}

function verdict(accepted: boolean, problems: readonly Problem[], file?: string): Effect {
  const origin = file === undefined ? undefined : { file, line: 2, column: 1 };
  return { kind: 'Verdict', object: 'Sidecar/a/b', accepted, problems, ...(origin === undefined ? {} : { origin }) };
}
const of = (...effects: readonly Effect[]) => said(reporter => reporter.folded(emptyState, effects));
const STAYS = 'the version accepted before, if any, stays in force';

test('the reporter logs a refusal as error at the exact place, else that of the object, else without', async () => {
  const problems = [
    { path: 'spec.hosts', message: 'is missing' },
    { path: 'spec.x', message: 'unknown field' },
    { path: '', message: 'no' },
  ];
  expect(await of(verdict(false, problems, 'a.yaml'))).toEqual([
    `error a.yaml:7:3: Sidecar/a/b is refused: spec.hosts: is missing; ${STAYS}`,
    `error a.yaml:2:1: Sidecar/a/b is refused: spec.x: unknown field; ${STAYS}`,
    `error a.yaml:2:1: Sidecar/a/b is refused: no; ${STAYS}`,
  ]);
  expect(await of(verdict(false, problems.slice(0, 1)))).toEqual([
    `error Sidecar/a/b is refused: spec.hosts: is missing; ${STAYS}`,
  ]);
});

test('the reporter shows a bounded number of problems of one object', async () => {
  const many = Array.from({ length: PROBLEMS_SHOWN_MAX + 5 }, (_, i) => ({ path: `p${i}`, message: 'no' }));
  expect(await of(verdict(false, many))).toHaveLength(PROBLEMS_SHOWN_MAX);
});

test('the reporter warns about an object accepted with problems, and reports once it has none', async () => {
  expect(
    await of(verdict(true, [{ path: '', message: 'odd' }], 'a.yaml'), verdict(true, [], 'a.yaml'), verdict(true, [])),
  ).toEqual([
    'warn a.yaml:2:1: Sidecar/a/b: odd',
    'info a.yaml:2:1: Sidecar/a/b is accepted again',
    'info Sidecar/a/b is accepted again',
  ]);
});

test('the reporter logs an unreadable file once, again for another reason, and when it is mended', async () => {
  const origin = { file: 'b.yaml' };
  const malformed = (state: State, ...reasons: readonly string[]): State =>
    step(state, { kind: 'Malformed', source: 'file/Kubernetes', origin, reasons }).state;
  const one = malformed(emptyState, '1:1: no', '2:1: no');
  const two = malformed(one, '3:1: no');
  const lines = await said(reporter => {
    for (const state of [one, one, two, malformed(two)]) reporter.folded(state, []);
  });
  expect(lines).toEqual([
    'error b.yaml:1:1: no',
    'error b.yaml:2:1: no',
    'error b.yaml:3:1: no',
    'info b.yaml can be read again, or is gone',
  ]);
});

test('the reporter warns once about skipped content of a file', async () => {
  const says = (reasons: readonly string[], ignored: readonly string[]) => (state: State) =>
    step(state, { kind: 'Malformed', source: 'file/Kubernetes', origin: { file: 'b.yaml' }, reasons, ignored }).state;
  const one = says([], ['1:1: odd'])(emptyState);
  const two = says(['9:1: no'], ['1:1: odd', '5:1: odd'])(one);
  const three = says([], ['5:1: odd'])(two);
  const none = says([], [])(three);
  expect(none.malformed.size).toBe(0);
  const lines = await said(reporter => {
    for (const state of [one, two, three, none]) reporter.folded(state, []);
  });
  expect(lines).toEqual([
    'warn b.yaml:1:1: odd',
    'error b.yaml:9:1: no',
    'warn b.yaml:5:1: odd',
    'info b.yaml can be read again, or is gone',
  ]);
});

test('the reporter logs a NACK with proxy, type, Envoy’s message and the objects behind it', async () => {
  const nack = {
    connection: 'c',
    typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
    message: ' no\n',
    resources: ['x', 'y'],
  };
  const objects = Array.from({ length: OBJECTS_SHOWN_MAX + 1 }, (_, i) => `o${i}`);
  const lines = await said(reporter => {
    reporter.nacked(nack, []);
    reporter.nacked({ ...nack, resources: [] }, ['a', 'b']);
    reporter.nacked(nack, objects);
  });
  expect(lines.slice(0, 2)).toEqual(['error c refused x, y: no', 'error c refused Cluster: no; made from a, b']);
  expect(lines[2]?.endsWith(`, o${OBJECTS_SHOWN_MAX - 1}, …`)).toBe(true);
});

test('a policy whose authorizer cannot be used is an error once, when it begins to refuse', async () => {
  const policy = {
    apiVersion: 'security.istio.io/v1',
    kind: 'AuthorizationPolicy',
    metadata: { name: 'p', namespace: 'a' },
    spec: { action: 'CUSTOM', provider: { name: 'gone' }, rules: [{}] },
  };
  const { state } = step(emptyState, { source: 'file/Kubernetes', kind: 'Add', object: policy });
  const { state: next } = step(state, { source: 'file/Kubernetes', kind: 'MeshConfig', value: { ingressClass: 'x' } });
  const lines = await said(reporter => [state, next].map(one => reporter.folded(one, [])));
  expect(lines).toEqual([
    'error AuthorizationPolicy/a/p cannot be enforced, so what its rules match is refused: ' +
      'MeshConfig has no external authorizer called "gone"',
  ]);
});
