// Mesh ConfigMaps are YAML of up to 1.5 MB that anyone who may write the ConfigMap chooses: the event loop never waits
// for their parsing, and what comes after them is recorded after them.

import { afterEach, describe, expect, it } from 'vitest';
import { FileParser, INLINE_PLAIN_BYTES_MAX, type ParseBudget } from '../../../src/adapters/file/file-parser.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Event, Fact } from '../../../src/core/event.ts';
import { restore } from '../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../src/core/fold/snapshot.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { findingsOf } from '../../../src/offline/findings.ts';
import { stateHash } from '../../../src/offline/load-state.ts';
import { MeshTexts } from '../../../src/runtime/mesh-texts.ts';
import { type SinkOptions, sinkOf } from '../../../src/runtime/start.ts';
import { World } from '../../../src/runtime/world.ts';

const SOURCE = 'kube/Kubernetes';
const AMPLE: ParseBudget = { ms: () => 60_000, heapMiB: 512 };
const NONE: ParseBudget = { ms: () => 0, heapMiB: 512 };

const configMap = (data: JsonObject, name = 'istio', kind: 'Add' | 'Update' = 'Add'): Fact => ({
  kind,
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'istio-system' }, data },
});
const service: Fact = {
  kind: 'Add',
  object: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace: 'ns' }, spec: { ports: [] } },
};
/** Too large for the event loop, and not plain. */
const large = (accessLogFile: string): string =>
  `accessLogFile: ${accessLogFile}\ncaCertificates:\n${'- {pem: "x"}\n'.repeat(INLINE_PLAIN_BYTES_MAX / 12)}`;

/** A parser that says which texts it was given. */
class Spy extends FileParser {
  readonly given: string[] = [];
  override documents(file: string, text: string): ReturnType<FileParser['documents']> {
    this.given.push(file);
    return super.documents(file, text);
  }
}

const parsers: FileParser[] = [];
afterEach(() => Promise.all(parsers.splice(0).map(parser => parser.close())));

function sinkWith(budget: ParseBudget, options: SinkOptions = {}) {
  const journal = openMemoryJournal();
  const clock = { now: () => 1, after: () => ({ cancel: () => undefined }) };
  const world = new World({ journal, state: emptyState, clock, strict: false, log: () => undefined });
  const parser = new Spy(budget);
  parsers.push(parser);
  const meshTexts = new MeshTexts(parser);
  const recorded = async (): Promise<readonly Event[]> => {
    const events: Event[] = [];
    for await (const page of journal.read({ from: 1 })) events.push(...page);
    return events;
  };
  return { world, sink: sinkOf(world, SOURCE, { ...options, meshTexts }), parser, meshTexts, recorded };
}
const kindsOf = (events: readonly Event[]): readonly string[] => events.map(({ kind }) => kind);

describe('a large mesh ConfigMap', () => {
  it('is parsed by the parser of the process, however it comes', async () => {
    const { world, sink, parser } = sinkWith(AMPLE, { sharedMeshConfig: 'istio-user' });
    const log = (): string => world.state.mesh.effective.accessLogFile;
    await sink.relistKinds(['ConfigMap'], [configMap({ mesh: large('/listed') })]);
    expect(log()).toBe('/listed');
    await sink.submit([configMap({ mesh: large('/watched') }, 'istio', 'Update')]);
    expect(log()).toBe('/watched');
    await sink.submit([configMap({ meshNetworks: 'networks: {one: {}}' }, 'istio-user')]);
    expect(Object.keys(world.state.networks.effective.networks)).toEqual(['one']);
    await sink.relist([configMap({ mesh: large('/files') })], []);
    expect(log()).toBe('/files');
    expect(parser.given).toEqual([
      'ConfigMap/istio-system/istio data.mesh',
      'ConfigMap/istio-system/istio data.mesh',
      'ConfigMap/istio-system/istio-user data.meshNetworks',
      'ConfigMap/istio-system/istio data.mesh',
    ]);
  });

  it('is refused past the budget of its thread, with the reason, and the configuration in force stays', async () => {
    const { world, sink } = sinkWith(NONE);
    await sink.submit([configMap({ mesh: 'accessLogFile: /good\n' })]);
    await sink.submit([configMap({ mesh: large('/slow') })]);
    expect(world.state.mesh.effective.accessLogFile).toBe('/good');
    const [finding] = findingsOf(world.state);
    expect(finding).toMatchObject({
      severity: 'error',
      object: 'MeshConfig',
      source: 'configMap',
      origin: { file: 'ConfigMap/istio-system/istio data.mesh' },
      message: 'takes longer than 0 s to parse',
    });
    const restored = restore(JSON.parse(JSON.stringify([...snapshotOf(world.state)])));
    expect(findingsOf(restored)).toEqual([finding]);
    expect(stateHash(restored)).toBe(stateHash(world.state));
    await sink.submit([configMap({ mesh: 'accessLogFile: /better\n' })]);
    expect([world.state.mesh.effective.accessLogFile, findingsOf(world.state)]).toEqual(['/better', []]);
  });

  it('is recorded before what was submitted after it', async () => {
    const { sink, recorded } = sinkWith(AMPLE);
    await Promise.all([sink.submit([configMap({ mesh: large('/a') })]), sink.submit([service])]);
    expect(kindsOf(await recorded())).toEqual(['Add', 'MeshConfig', 'Add']);
  });

  it('is not recorded as refused because the process stops', async () => {
    const { sink, meshTexts, recorded } = sinkWith(AMPLE);
    const submitted = sink.submit([configMap({ mesh: large('/a') })]);
    const after = sink.submit([service]);
    await meshTexts.close();
    await expect(submitted).rejects.toThrow('the control plane is stopping');
    await after;
    expect(kindsOf(await recorded())).toEqual(['Add']);
  });
});

describe('a mesh ConfigMap with a mistake', () => {
  it('is refused with the place in its text', async () => {
    const { world, sink } = sinkWith(AMPLE);
    await sink.submit([configMap({ mesh: 'accessLogFile: /a\ntrustDomain: [\n' })]);
    expect(findingsOf(world.state)).toMatchObject([
      { object: 'MeshConfig', message: expect.stringMatching(/^\d+:\d+: /) },
    ]);
  });
});

describe('a ConfigMap that is no mesh configuration', () => {
  it('is not parsed', async () => {
    const { sink, parser, world } = sinkWith(AMPLE);
    await sink.submit([configMap({ mesh: large('/a') }, 'istio-other')]);
    expect([parser.given, world.state.mesh.effective.accessLogFile]).toEqual([[], '']);
  });
});
