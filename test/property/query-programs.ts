// Random programs of queries, and random worlds for them: what a tracker is asked in properties about trackers.
//
// A program is a list of queries as data. Each is a list of steps that look at the state, at the proxy or at a query
// before it in the list, and that may do so only if something else was found: so read sets and audiences change with
// the state and with the proxy.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ProxyRecord } from '../../src/core/model/proxy.ts';
import type { Derivation, ProxyReader, Query, Selection } from '../../src/core/query/reader.ts';
import type { State } from '../../src/core/state.ts';
import { nodeOf, proxyOf, put, remove, step } from '../unit/world.ts';

const KEYS = ['a/one', 'b/one'] as const;
const FACETS = ['namespace', 'type', 'ips'] as const;

/** Results are few, so that a change often comes to the same. */
type Step =
  | { readonly look: 'object'; readonly key: string; readonly as: 'found' | 'label' | 'object' }
  | { readonly look: 'objects'; readonly prefix: string; readonly as: 'count' | 'objects' }
  | { readonly look: 'indexed'; readonly key: string }
  | { readonly look: 'mesh' }
  /** About each object that there is, and those of `prefix` once more. */
  | { readonly look: 'each'; readonly prefix: string }
  | { readonly look: 'facet'; readonly name: (typeof FACETS)[number] }
  | { readonly look: 'isIn'; readonly namespace: string }
  | { readonly look: 'metadata'; readonly name: string }
  | { readonly look: 'extension' }
  /** `back`: how many queries before the one before. */
  | { readonly look: 'query' | 'derived' | 'made' | 'about'; readonly back: number; readonly as: 'value' | 'size' }
  | { readonly look: 'if'; readonly test: Step; readonly yes: Step };

export type Program = readonly (readonly Step[])[];

const back = fc.constantFrom(0, 0, 0, 1, 2);
const simple: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    look: fc.constant('object' as const),
    key: fc.constantFrom(...KEYS),
    as: fc.constantFrom('found' as const, 'label' as const, 'object' as const),
  }),
  fc.record({
    look: fc.constant('objects' as const),
    prefix: fc.constantFrom('', 'a/', 'b/', 'c/'),
    as: fc.constantFrom('count' as const, 'objects' as const),
  }),
  fc.record({ look: fc.constant('indexed' as const), key: fc.constantFrom(...KEYS) }),
  fc.constant<Step>({ look: 'mesh' }),
  fc.record({ look: fc.constant('each' as const), prefix: fc.constantFrom('', 'b/', 'c/') }),
  fc.record({ look: fc.constant('facet' as const), name: fc.constantFrom(...FACETS) }),
  fc.record({ look: fc.constant('isIn' as const), namespace: fc.constantFrom('a', 'b') }),
  fc.record({ look: fc.constant('metadata' as const), name: fc.constantFrom('LABELS', 'NONE') }),
  fc.constant<Step>({ look: 'extension' }),
  fc.record({
    look: fc.constantFrom(...(['query', 'query', 'derived', 'made', 'about'] as const)),
    back,
    as: fc.constantFrom('value' as const, 'size' as const),
  }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: simple },
  { weight: 1, arbitrary: fc.record({ look: fc.constant('if' as const), test: simple, yes: simple }) },
);

/** Queries look at queries before them only; the first at none. */
export const anyProgram: fc.Arbitrary<Program> = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 2 }), {
  minLength: 2,
  maxLength: 4,
});

/** Queries of a program, the last one on top. */
export function queriesOf(program: Program): readonly Query<string, unknown>[] {
  const queries: Query<string, unknown>[] = [];
  const derivations: Derivation<Json>[] = [];
  program.forEach((steps, own) => {
    const run = (reader: ProxyReader): unknown => {
      const before = (step: Step & { readonly back: number }): number => own - 1 - (step.back % own);
      const look = (step: Step): unknown => {
        switch (step.look) {
          case 'object': {
            const found = reader.object('PeerAuthentication', step.key);
            if (step.as === 'object') return found;
            return step.as === 'found' ? found !== undefined : found?.labels.v;
          }
          case 'objects': {
            const found = reader.objects('PeerAuthentication', step.prefix);
            return step.as === 'count' ? found.length : found;
          }
          case 'indexed':
            return reader.indexed('servicesByName', step.key).length;
          case 'each': {
            const found = reader.selectEach(looked, [...reader.get(boxes, ''), ...reader.get(boxes, step.prefix)]);
            const some = reader.select(lookedOver, { values: reader.get(boxes, step.prefix), there: found.length });
            return [...reader.selectEach(lookedUp, found.slice(0, 1) as readonly Box[]), ...found, some];
          }
          case 'mesh':
            return reader.mesh('accessLogFile');
          case 'facet':
            return reader.facet(step.name);
          case 'isIn':
            return reader.facet('namespace') === step.namespace;
          case 'metadata':
            return reader.metadata(step.name);
          case 'extension':
            return reader.hasExtension('lua');
          case 'if':
            return truthy(look(step.test)) ? look(step.yes) : false;
          case 'query':
            return own === 0 ? 0 : seen(step, reader.get(queries[before(step)]!, ''));
          case 'derived':
            return own === 0 ? 0 : seen(step, reader.derived(derivations[before(step)]!));
          case 'made':
            return own === 0 ? 0 : reader.make(sizeOf, { value: reader.get(queries[before(step)]!, '') as object });
          case 'about':
            return own === 0 ? 0 : reader.select(lookedUp, { value: reader.get(queries[before(step)]!, '') as object });
        }
      };
      return steps.map(look);
    };
    queries.push({ name: `q${own}`, run });
    derivations.push({ name: `d${own}`, run: reader => sizeOf.run({ value: run(reader) as object }) });
  });
  return queries;
}

interface Box {
  readonly value: object;
}

/** Lists that follow one another. */
const lookedOver: Selection<{ readonly values: readonly Box[]; readonly there: number }, unknown> = {
  name: 'lookedOver',
  lineage: ({ there }) => String(there % 2),
  run: (reader, { values, there }) => [
    reader.selectEach(looked, values),
    there > 1 ? reader.facet('namespace') : reader.mesh('accessLogFile'),
    reader.selectEach(looked, [...values].reverse()),
  ],
};

/** Argument: a prefix. Values with an identity of their own, as what queries find has. */
const boxes: Query<string, readonly Box[]> = {
  name: 'boxes',
  run: (reader, prefix) => reader.objects('PeerAuthentication', prefix).map(value => ({ value })),
};

const looked: Selection<{ readonly value: object }, unknown> = {
  name: 'looked',
  run: (reader, { value }) => {
    const first = reader.object('PeerAuthentication', KEYS[0]);
    if (first === value) return { value, in: reader.facet('namespace') };
    return { value, label: first?.labels.v, mesh: first === undefined ? reader.mesh('accessLogFile') : '' };
  },
};

/** About a value that was found, and the state besides. */
const lookedUp: Selection<{ readonly value: object }, unknown> = {
  name: 'lookedUp',
  run: (reader, { value }) => {
    const [size] = sizeOf.run({ value });
    return [size, size === 0 ? reader.facet('namespace') : reader.objects('PeerAuthentication', 'a/').length];
  },
};

const sizeOf = {
  name: 'sizeOf',
  run: ({ value }: { readonly value: object }): readonly number[] => [
    JSON.stringify(value).replaceAll(/[^\]{}]/g, '').length % 3,
  ],
};

function seen(step: { readonly as: 'value' | 'size' }, value: unknown): unknown {
  return step.as === 'value' ? value : sizeOf.run({ value: value as object })[0];
}

function truthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** What happens between and to the questions. */
export type Move =
  | { readonly move: 'put' | 'remove'; readonly key: string; readonly label: string }
  | { readonly move: 'service'; readonly key: string; readonly there: boolean }
  | { readonly move: 'mesh'; readonly value: string }
  | { readonly move: 'ask'; readonly fromTop: number; readonly proxy: number }
  | { readonly move: 'node'; readonly connection: number; readonly node: number }
  | { readonly move: 'back' | 'sweep' };

const key = fc.constantFrom(...KEYS);
const label = fc.constantFrom('x', 'y');
export const anyMoves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ move: fc.constantFrom('put' as const, 'remove' as const), key, label }) },
    { weight: 1, arbitrary: fc.record({ move: fc.constant('service' as const), key, there: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ move: fc.constant('mesh' as const), value: label }) },
    {
      weight: 8,
      arbitrary: fc.record({
        move: fc.constant('ask' as const),
        fromTop: fc.constantFrom(0, 0, 1, 2),
        proxy: fc.nat({ max: 2 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        move: fc.constant('node' as const),
        connection: fc.nat({ max: 2 }),
        node: fc.nat({ max: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ move: fc.constantFrom('back' as const, 'sweep' as const, 'sweep' as const) }) },
  ),
  { minLength: 4, maxLength: 30, size: 'max' },
);

const NODES: readonly JsonObject[] = [
  nodeOf({ namespace: 'a', ip: '10.0.0.1', labels: { app: 'one' } }),
  nodeOf({ namespace: 'a', ip: '10.0.0.2', labels: { app: 'one' } }),
  nodeOf({ namespace: 'b', ip: '10.0.0.1', labels: { app: 'two' } }),
  nodeOf({ namespace: 'b', ip: '10.0.0.3', type: 'router' }),
];

/** The proxy of a connection: the node may change, as after a reconnection. Some list extensions. */
export function proxyAt(connection: number, node: number): ProxyRecord {
  const proxy = proxyOf(structuredClone(NODES[node]!), `proxy-${connection}`);
  return node === 1 ? { ...proxy, extensions: new Set(['lua']) } : proxy;
}

export function moved(state: State, move: Move): State {
  switch (move.move) {
    case 'put':
      return put(state, authentication(move.key, move.label)).state;
    case 'remove':
      return remove(state, authentication(move.key, move.label)).state;
    case 'service':
      return (move.there ? put : remove)(state, service(move.key)).state;
    case 'mesh':
      return step(state, { kind: 'MeshConfig', source: 'file/Kubernetes', value: { accessLogFile: move.value } }).state;
    default:
      return state;
  }
}

function authentication(at: string, v: string): JsonObject {
  const [namespace = '', name = ''] = at.split('/');
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name, namespace, labels: { v } },
    spec: { mtls: { mode: 'STRICT' } },
  };
}

function service(at: string): JsonObject {
  const [namespace = '', name = ''] = at.split('/');
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports: [{ port: 80 }] } };
}
