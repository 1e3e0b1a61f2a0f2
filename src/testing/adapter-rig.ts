// Law 9: the tests that every adapter passes. A source changes in all the ways sources change: while the adapter
// watches, while it does not, with each batch submitted twice, and beside another source. Afterwards the fold has to
// hold what the source holds, which is also what an adapter holds that starts now. Each check returns its findings, so
// that a canary can tell them apart.

import type { Adapter, Sink, SourcePart } from '../adapters/adapter.ts';
import { canonicalJson, type Json, jsonEqual } from '../core/base/json.ts';
import type { Fact, ObjectRef, RawObject } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { holdsFrom, holdsMesh, newsOf, newsOfKinds, newsOfList } from '../core/fold/novelty.ts';
import type { KindName } from '../core/model/kind.ts';
import { emptyState, type State } from '../core/state.ts';

/** A source that the rig can change, and adapters that watch it. */
export interface RigSource {
  /** `undefined` removes. Names are those of `objects` below. */
  set(name: string, object: RawObject | undefined): Promise<void>;
  open(): Adapter;
  /** Makes everything but `route` unreadable, while objects go on changing; and readable again. */
  hide?(hidden: boolean): Promise<void>;
  /** Lets time pass, for a source that has its own. */
  pass?(): Promise<void>;
  /** The objects that it holds, if they are not those that were set. */
  held?(): Promise<readonly RawObject[]>;
  /** The part of a recorded object that is compared with them; undefined: none. */
  seen?(raw: RawObject): RawObject | undefined;
}

/** The adapter, with something between it and its sink. */
export function wrapped(adapter: Adapter, wrap: (sink: Sink) => Sink): Adapter {
  return {
    source: adapter.source,
    start: sink => adapter.start(wrap(sink)),
    stop: () => adapter.stop(),
    status: () => adapter.status(),
  };
}

/** How long an adapter may take to see what changed. */
export const SETTLE_MS_MAX = 5_000;
const POLL_MS = 10;
const noneRejected: ReadonlySet<number> = new Set();

/** The sink of the runtime without a journal: facts that are news are folded, and kept to be folded again elsewhere. */
export class FoldingSink implements Sink {
  readonly source: string;
  readonly facts: Fact[] = [];
  readonly #twice: boolean;
  state: State;

  constructor(source: string, options: { readonly state?: State; readonly twice?: boolean } = {}) {
    this.source = source;
    this.state = options.state ?? emptyState;
    this.#twice = options.twice ?? false;
  }

  async submit(batch: readonly Fact[]): Promise<void> {
    for (let i = 0; i < (this.#twice ? 2 : 1); i++) this.#fold(newsOf(this.state, this.source, batch));
  }

  async relist(all: readonly Fact[], unreadable: readonly string[]): Promise<void> {
    for (let i = 0; i < (this.#twice ? 2 : 1); i++) this.#fold(newsOfList(this.state, this.source, all, unreadable));
  }

  async relistKinds(kinds: readonly KindName[], all: readonly Fact[], kept: readonly ObjectRef[] = []): Promise<void> {
    for (let i = 0; i < (this.#twice ? 2 : 1); i++) this.#fold(newsOfKinds(this.state, this.source, kinds, all, kept));
  }

  holds(what: SourcePart): boolean {
    return 'path' in what ? holdsFrom(this.state, this.source, what.path) : holdsMesh(this.state, what.mesh);
  }

  #fold(facts: readonly Fact[]): void {
    this.facts.push(...facts);
    this.state = foldAll(
      this.state,
      facts.map(fact => ({ source: this.source, fact })),
    );
  }
}

interface Said {
  readonly source: string;
  readonly fact: Fact;
}

function foldAll(state: State, said: readonly Said[]): State {
  let now = state;
  for (const { source, fact } of said) {
    now = fold(now, { seq: now.seq + 1, time: now.seq + 1, source, ...fact }, noneRejected).state;
  }
  return now;
}

/** What a state holds, without when it came: every record of every source, and which of them is in force. */
function holdings(state: State): readonly string[] {
  const records = [...state.records.values()].map(({ source, kind, key, raw, refused }) =>
    canonicalJson({ source, kind, key, raw, refused: refused?.raw } as Json),
  );
  const inForce = Object.entries(state.objects).flatMap(([kind, table]) =>
    [...table.values()].map(object => canonicalJson({ kind, object } as unknown as Json)),
  );
  return [...records, ...inForce].sort();
}

/** How many records of one state the other has not, or has with another value. */
function differing(before: State, after: State): number {
  const keys = new Set([...before.records.keys(), ...after.records.keys()]);
  const rawIn = (state: State, key: string): Json | undefined => {
    const record = state.records.get(key);
    return record?.refused?.raw ?? record?.raw;
  };
  return [...keys].filter(key => !jsonEqual(rawIn(before, key), rawIn(after, key))).length;
}

const service = (name: string, port: number): RawObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { clusterIP: `10.0.0.${port % 250}`, ports: [{ name: 'http', port }] },
});

const route = (name: string, host: string): RawObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace: 'default' },
  spec: { hosts: [name], http: [{ route: [{ destination: { host } }] }] },
});

type RigStep = readonly [name: string, object: RawObject | undefined];

const beginning: readonly RigStep[] = [
  ['a', service('a', 80)],
  ['b', service('b', 81)],
  ['route', route('shop', 'a')],
];
/** Updates, removes, adds, takes back, and says again what is there already. */
const changes: readonly RigStep[] = [
  ['a', service('a', 8080)],
  ['b', undefined],
  ['c', service('c', 82)],
  ['route', route('shop', 'c')],
  ['c', service('c', 82)],
  ['d', service('d', 83)],
  ['d', undefined],
];

function contents(...steps: readonly (readonly RigStep[])[]): ReadonlyMap<string, RawObject> {
  const now = new Map<string, RawObject>();
  for (const [name, object] of steps.flat()) {
    if (object === undefined) now.delete(name);
    else now.set(name, object);
  }
  return now;
}

async function apply(source: RigSource, steps: readonly RigStep[]): Promise<void> {
  for (const [name, object] of steps) await source.set(name, object);
}

/** Waits until the sink's source holds `wanted`; gives what differs if it never does. */
async function settle(
  source: RigSource,
  sink: FoldingSink,
  wanted: ReadonlyMap<string, RawObject>,
  ms: number,
): Promise<readonly string[]> {
  const objects = (await source.held?.()) ?? [...wanted.values()];
  const expected = objects.map(object => canonicalJson(object)).sort();
  const until = Date.now() + ms;
  for (;;) {
    const records = [...sink.state.records.values()].map(({ raw, refused }) => refused?.raw ?? raw ?? {});
    const seen = source.seen === undefined ? records : records.flatMap(raw => source.seen?.(raw) ?? []);
    const held = seen.map(raw => canonicalJson(raw)).sort();
    if (canonicalJson(held) === canonicalJson(expected)) return [];
    if (Date.now() > until) {
      const missing = expected.filter(text => !held.includes(text)).map(text => `missing: ${text}`);
      return [...missing, ...held.filter(text => !expected.includes(text)).map(text => `not in the source: ${text}`)];
    }
    await moment(source);
  }
}

async function moment(source: RigSource): Promise<void> {
  await source.pass?.();
  await new Promise(resolve => setTimeout(resolve, POLL_MS));
}

async function watching<T>(source: RigSource, sink: FoldingSink, during: () => Promise<T>): Promise<T> {
  const adapter = source.open();
  try {
    await adapter.start(sink);
    return await during();
  } finally {
    await adapter.stop();
  }
}

/** Somebody who begins now. */
async function fromScratch(source: RigSource, name: string): Promise<State> {
  const sink = new FoldingSink(name);
  await watching(source, sink, async () => undefined);
  return sink.state;
}

async function sameAsFromScratch(source: RigSource, sink: FoldingSink): Promise<readonly string[]> {
  const fresh = holdings(await fromScratch(source, sink.source));
  return canonicalJson(holdings(sink.state)) === canonicalJson(fresh) ? [] : ['differs from a beginning from scratch'];
}

/** Add, update and delete while the adapter looks; `twice`: everything it says is delivered twice. */
export async function liveChanges(
  source: RigSource,
  name: string,
  twice: boolean,
  ms = SETTLE_MS_MAX,
): Promise<readonly string[]> {
  const sink = new FoldingSink(name, { twice });
  await apply(source, beginning);
  const wrong = await watching(source, sink, async () => {
    const listed = await settle(source, sink, contents(beginning), ms);
    const wrongAtEachStep: string[] = [];
    for (let i = 1; i <= changes.length; i++) {
      await apply(source, changes.slice(i - 1, i));
      wrongAtEachStep.push(...(await settle(source, sink, contents(beginning, changes.slice(0, i)), ms)));
    }
    return [...listed, ...wrongAtEachStep];
  });
  return [...wrong, ...(await sameAsFromScratch(source, sink))];
}

/** Everything changes unobserved: the next list gives the differences, deletions included, and nothing else. */
export async function relistAfterGap(source: RigSource, name: string, ms = SETTLE_MS_MAX): Promise<readonly string[]> {
  await apply(source, beginning);
  const before = await fromScratch(source, name);
  await apply(source, changes);
  const sink = new FoldingSink(name, { state: before });
  const wrong = await watching(source, sink, () => settle(source, sink, contents(beginning, changes), ms));
  const said = sink.facts.filter(fact => fact.kind !== 'Synced').length;
  const differences = differing(before, sink.state);
  const kinds = sink.facts.map(fact => fact.kind).join(' ');
  const surplus = said === differences ? [] : [`${said} facts for ${differences} differences: ${kinds}`];
  return [...wrong, ...surplus, ...(await sameAsFromScratch(source, sink))];
}

/**
 * What cannot be read is never empty: after a restart and while the adapter watches, the known objects stay, changes
 * beside them are seen, and the status names what cannot be read. Once it can be read again, deletions are seen.
 */
export async function unreadablePart(source: RigSource, name: string, ms = SETTLE_MS_MAX): Promise<readonly string[]> {
  const routes = ['one', 'two', 'three', 'four'].map((host): RigStep => ['route', route('shop', host)]);
  const after = (...steps: readonly RigStep[]): ReadonlyMap<string, RawObject> => contents(beginning, steps);
  await apply(source, beginning);
  const sink = new FoldingSink(name, { state: await fromScratch(source, name) });
  const wrong: string[] = [];
  const adapter = source.open();
  const expectAt = async (when: string, hidden: boolean, step: RigStep, wanted: ReadonlyMap<string, RawObject>) => {
    await source.hide?.(hidden);
    await apply(source, [step]);
    if (when === 'after a restart') void adapter.start(sink).catch(() => undefined);
    wrong.push(...(await settle(source, sink, wanted, ms)).map(text => `${when}: ${text}`));
    const until = Date.now() + ms;
    const says = (): boolean => adapter.status().unreadable.length > 0;
    while (says() !== hidden && Date.now() < until) await moment(source);
    if (says() !== hidden) wrong.push(`${when}: says that it can${hidden ? '' : 'not'} read`);
  };
  try {
    await source.hide?.(true);
    await apply(source, [['b', undefined]]);
    await expectAt('after a restart', true, routes[0]!, after(routes[0]!));
    await expectAt('when it can be read', false, routes[1]!, after(['b', undefined], routes[1]!));
    await source.hide?.(true);
    await apply(source, [['a', undefined]]);
    await expectAt('while it looks', true, routes[2]!, after(['b', undefined], routes[2]!));
    await expectAt(
      'when it can be read again',
      false,
      routes[3]!,
      after(['a', undefined], ['b', undefined], routes[3]!),
    );
  } finally {
    await adapter.stop();
  }
  return [...wrong, ...(await sameAsFromScratch(source, sink))];
}

/** Nothing changed: another list records no object. */
export async function resync(source: RigSource, name: string): Promise<readonly string[]> {
  await apply(source, beginning);
  const sink = new FoldingSink(name, { state: await fromScratch(source, name) });
  await watching(source, sink, async () => undefined);
  return sink.facts.filter(fact => fact.kind !== 'Synced').map(fact => `says ${fact.kind} though nothing changed`);
}

/** Two sources with some of the same objects: in any order of their events, the result is the same. */
export async function reorderedSources(
  one: RigSource,
  other: RigSource,
  names: readonly [string, string],
): Promise<readonly string[]> {
  await apply(one, beginning);
  await apply(other, [
    ['route', route('shop', 'elsewhere')],
    ['a', service('a', 90)],
  ]);
  const said: (readonly Said[])[] = [];
  for (const [source, name] of [
    [one, names[0]],
    [other, names[1]],
  ] as const) {
    const sink = new FoldingSink(name);
    await watching(source, sink, async () => undefined);
    said.push(sink.facts.map(fact => ({ source: name, fact })));
  }
  const [a, b] = [said[0] ?? [], said[1] ?? []];
  const alternating = a.flatMap((fact, i) => [...(b[i] === undefined ? [] : [b[i]]), fact]);
  const orders = [
    [...a, ...b],
    [...b, ...a],
    [...alternating, ...b.slice(a.length)],
  ];
  const ends = orders.map(order => canonicalJson(holdings(foldAll(emptyState, order))));
  return new Set(ends).size === 1 ? [] : ['the end depends on the order between sources'];
}
