// The injector's ConfigMap is YAML of up to 1.5 MB that anyone who may write it chooses: the event loop never waits for
// its parsing, and what the budget of a thread refuses is on record, so that a replay refuses it too.

import { isRight } from 'fp-ts/lib/Either.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FileParser, type ParseBudget } from '../../../src/adapters/file/file-parser.ts';
import { InjectorInForce } from '../../../src/admission/inject/in-force.ts';
import { readSetup } from '../../../src/admission/inject/setup.ts';
import * as template from '../../../src/admission/template/template.ts';
import * as yaml from '../../../src/core/base/yaml.ts';
import type { Event, Fact } from '../../../src/core/event.ts';
import { reduce } from '../../../src/core/reduce.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { stateHash } from '../../../src/offline/load-state.ts';
import { InjectorTexts, injectorTextsInForce } from '../../../src/runtime/injector-texts.ts';
import { sinkOf } from '../../../src/runtime/start.ts';
import { World } from '../../../src/runtime/world.ts';

vi.mock('../../../src/admission/template/template.ts', async load => {
  const real = await load<typeof template>();
  return { ...real, parseTemplate: vi.fn(real.parseTemplate) };
});
vi.mock('../../../src/core/base/yaml.ts', async load => {
  const real = await load<typeof yaml>();
  return { ...real, composedDocuments: vi.fn(real.composedDocuments) };
});

const SOURCE = 'kube/Kubernetes';
const AMPLE: ParseBudget = { ms: () => 60_000, heapMiB: 512 };
const NONE: ParseBudget = { ms: () => 0, heapMiB: 512 };
const REF = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'istio-system', name: 'istio-sidecar-injector' };

/** Each test has texts of its own: those of another one may be known. */
const values = (name: string): string => `name: ${name}\nlist: [${'[],'.repeat(2_000)}]\n`;
const configMap = (text: string, kind: 'Add' | 'Update' = 'Add'): Fact => ({
  kind,
  object: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: REF.name, namespace: REF.namespace },
    data: { config: 'policy: enabled\n', values: text },
  },
});

const parsers: FileParser[] = [];
afterEach(() => Promise.all(parsers.splice(0).map(parser => parser.close())));

function sinkWith(budget: ParseBudget, before: State = emptyState) {
  const journal = openMemoryJournal();
  const clock = { now: () => 1, after: () => ({ cancel: () => undefined }) };
  const world = new World({ journal, state: before, clock, strict: false, log: () => undefined });
  const parser = new FileParser(budget);
  parsers.push(parser);
  const recorded = async (): Promise<readonly Event[]> => {
    const events: Event[] = [];
    for await (const page of journal.read({ from: 1 })) events.push(...page);
    return events;
  };
  return { world, parser, sink: sinkOf(world, SOURCE, { injectorTexts: new InjectorTexts(parser) }), recorded };
}

const injector = new InjectorInForce(() => undefined);
function nameIn(state: State): unknown {
  const setup = injector.setup(state);
  return isRight(setup) ? setup.right.values.name : setup.left;
}
const lastMalformed = ({ malformed }: State): readonly string[] =>
  [...malformed.values()].flatMap(({ origin, reasons }) => reasons.map(reason => `${origin.file}: ${reason}`));

/** Texts of more than 2 KiB that were composed in this thread. */
const composed = (): number =>
  vi.mocked(yaml.composedDocuments).mock.calls.filter(([text]) => text.length > 2_048).length;

describe('a large ConfigMap of the injector', () => {
  it('is parsed by the parser of the process, however it comes', async () => {
    const { world, sink } = sinkWith(AMPLE);
    const before = composed();
    await sink.relistKinds(['ConfigMap'], [configMap(values('listed'))]);
    expect(nameIn(world.state)).toBe('listed');
    await sink.submit([configMap(values('watched'), 'Update')]);
    expect(nameIn(world.state)).toBe('watched');
    await sink.relist([configMap(values('file'))], []);
    expect(nameIn(world.state)).toBe('file');
    expect(composed() - before).toBe(0);
  });

  it('is parsed before a process serves that knows it from its journal', async () => {
    const { world, sink, parser } = sinkWith(AMPLE);
    const before = composed();
    await sink.submit([configMap(values('known'))]);
    for (const other of ['a', 'b', 'c', 'd']) await new InjectorTexts(parser).read([values(other)]);
    expect(injectorTextsInForce(world.state)).toEqual([values('known')]);
    await new InjectorTexts(parser).read(injectorTextsInForce(world.state));
    expect(injectorTextsInForce(world.state)).toEqual([]);
    expect(nameIn(world.state)).toBe('known');
    expect(composed() - before).toBe(0);
  });

  it('is not recorded past the budget of its thread: the reason is, and the version in force stays', async () => {
    const good = sinkWith(AMPLE);
    await good.sink.submit([configMap(values('good'))]);
    const { world, sink, recorded } = sinkWith(NONE, good.world.state);
    for (const give of [
      () => sink.submit([configMap(values('slow'), 'Update')]),
      () => sink.relistKinds(['ConfigMap'], [configMap(values('slow'))]),
      () => sink.relist([configMap(values('slow'))], []),
    ]) {
      await give();
      expect(nameIn(world.state)).toBe('good');
      expect(lastMalformed(world.state)).toEqual([
        'ConfigMap/istio-system/istio-sidecar-injector data.values: takes longer than 0 s to parse',
      ]);
    }
    const events = await recorded();
    expect(events.map(({ kind }) => kind)).toEqual(['Malformed', 'Synced']);
    const replayed = events.reduce((state, event) => reduce(state, event)[0], good.world.state);
    expect(stateHash(replayed)).toBe(stateHash(world.state));
  });

  it('is no longer reported once another version or its deletion came', async () => {
    for (const next of [configMap('name: short\n', 'Update'), { kind: 'Delete', ref: REF } as const]) {
      const { world, sink } = sinkWith(NONE);
      await sink.submit([configMap(values('slow too'))]);
      expect(lastMalformed(world.state)).toHaveLength(1);
      await sink.submit([next]);
      expect(lastMalformed(world.state)).toEqual([]);
    }
  });

  it('that cannot be parsed is refused with the reason', async () => {
    const { world, sink } = sinkWith(AMPLE);
    await sink.submit([configMap(`a: [${'[],'.repeat(2_000)}\nb: }`)]);
    const found = new InjectorInForce(() => undefined).setup(world.state);
    expect(found).toMatchObject({ left: expect.stringMatching(/ConfigMap .*: values: error converting YAML to JSON/) });
  });
});

describe('the templates of a configuration', () => {
  it.each([
    ['long', 5, 49_000],
    ['many', 2_100, 1],
  ])('that are too %s in all are refused unparsed past the limit', (_, count, chars) => {
    const templates = Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, 'x'.repeat(chars)]));
    const parse = vi.mocked(template.parseTemplate);
    parse.mockClear();
    expect(readSetup(JSON.stringify({ templates }), '{}')).toMatchObject({
      left: 'config: the templates have more than 200000 characters in all',
    });
    expect(parse.mock.calls.length).toBeLessThan(count);
  });
});

describe('a ConfigMap of another name', () => {
  it('is not parsed', async () => {
    const { world, sink } = sinkWith(NONE);
    const fact = configMap(values('other'));
    await sink.submit([
      {
        ...fact,
        object: { ...(fact as { object: object }).object, metadata: { name: 'x', namespace: 'istio-system' } },
      } as Fact,
    ]);
    expect([lastMalformed(world.state), world.state.records.size]).toEqual([[], 1]);
  });
});
