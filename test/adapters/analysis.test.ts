// Messages of analysis in statuses, against an API server in memory.

import { afterEach, describe, expect, it } from 'vitest';
import type { Adapter } from '../../src/adapters/adapter.ts';
import { type AnalysisOfState, AnalysisSource } from '../../src/adapters/analysis/analysis-source.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { RawObject } from '../../src/core/event.ts';
import { reportObject } from '../../src/core/kinds/periplus/analysis-report.ts';
import { defaultSettings, type Settings } from '../../src/core/mesh/settings.ts';
import { analysisMessages, analysisObserves } from '../../src/core/wishes/analysis-messages.ts';
import { StatusAnalysis } from '../../src/offline/status-analysis.ts';
import { CLUSTER, type Plane, plane, type Rig, rig } from './write-rig.ts';

const MINUTE = 60_000;
const PATH = '/apis/networking.istio.io/v1/namespaces/shop/virtualservices/reviews';
const on: Settings = { ...defaultSettings, env: { PILOT_ENABLE_ANALYSIS: 'true' } };
const running: Plane[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(one => one.stop()));
});

interface Given {
  readonly host?: string;
  readonly annotations?: JsonObject;
  readonly status?: JsonObject;
  readonly timeout?: string;
}

function reviews(generation: number, { host = 'nowhere', annotations = {}, status, timeout = '1s' }: Given = {}) {
  const spec = { hosts: ['reviews'], http: [{ route: [{ destination: { host } }], timeout }] };
  const metadata = { namespace: 'shop', name: 'reviews', generation, annotations };
  const object = { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec };
  return (status === undefined ? object : { ...object, status }) as RawObject;
}

const service: RawObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'reviews' },
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] },
};

const mesh = (...objects: readonly RawObject[]): Rig => rig(1, [service, ...objects]);

/** A control plane that analyses. `runs` counts analyses. */
function start({ server, time }: Rig, settings = on, earlier: readonly Adapter[] = []): Plane & { runs(): number } {
  const real = new StatusAnalysis();
  let runs = 0;
  const analysis: AnalysisOfState = {
    inputs: state => real.inputs(state),
    run: state => {
      runs++;
      return real.run(state, time.now(), () => Promise.resolve());
    },
  };
  const after = (ms: number, run: () => void) => time.after(ms, run);
  const source = new AnalysisSource({ settings, analysis, after, now: () => time.now(), log: () => undefined });
  const features = [{ query: analysisMessages, observes: analysisObserves }];
  const started = plane(server, time, 'pod-1', true, { features, settings, further: [...earlier, source] });
  running.push(started);
  return { ...started, runs: () => runs };
}

const statusOf = ({ server }: Rig): JsonObject => (server.object(PATH).status ?? {}) as JsonObject;
/** Of `reviews`. */
const codesOf = (made: Rig): readonly string[] =>
  ((statusOf(made).validationMessages ?? []) as readonly { readonly type: { readonly code: string } }[]).map(
    ({ type }) => type.code,
  );
const statusWrites = ({ server }: Rig): number => server.writes.filter(write => write.includes('/status')).length;

describe('messages of analysis in a status', () => {
  it('have the code, the level and the page of what istioctl analyze says, and name the generation', async () => {
    const made = mesh(reviews(1));
    start(made);
    expect(await made.time.until(() => codesOf(made).length > 0, MINUTE)).toBe(true);
    expect(statusOf(made)).toEqual({
      observedGeneration: 1,
      validationMessages: [
        {
          type: { code: 'IST0101' },
          level: 'ERROR',
          documentationUrl: 'https://istio.io/v1.30/docs/reference/config/analysis/ist0101/',
        },
      ],
    });
  });

  it('go when the object is mended, or the object that was missing comes', async () => {
    const made = mesh(reviews(1));
    start(made);
    expect(await made.time.until(() => codesOf(made).length > 0, MINUTE)).toBe(true);
    made.server.set(reviews(2, { host: 'reviews', status: statusOf(made) }));
    expect(await made.time.until(() => statusOf(made).validationMessages === undefined, MINUTE)).toBe(true);
    made.server.set(reviews(3, { host: 'late', status: statusOf(made) }));
    expect(await made.time.until(() => statusOf(made).observedGeneration === 3, MINUTE)).toBe(true);
    made.server.set({ ...service, metadata: { namespace: 'shop', name: 'late' } });
    expect(await made.time.until(() => statusOf(made).validationMessages === undefined, MINUTE)).toBe(true);
  });

  it('go also if an earlier process wrote them', async () => {
    const messages = [{ code: 'IST0101', level: 'ERROR', documentationUrl: '' }];
    const validationMessages = [{ type: { code: 'IST0101' }, level: 'ERROR' }];
    const made = mesh(reviews(2, { host: 'reviews', status: { observedGeneration: 1, validationMessages } }));
    const spec = { kind: 'VirtualService', name: 'reviews', generation: 1, messages };
    start(made, on, [recorded({ kind: 'Update', object: reportObject('shop', spec) })]);
    expect(await made.time.until(() => statusOf(made).validationMessages === undefined, MINUTE)).toBe(true);
  });

  it('are not written into an object that never had any, nor by a feature that is off', async () => {
    const sound = mesh(reviews(1, { host: 'reviews' }));
    const { state } = start(sound);
    await sound.time.pass(MINUTE);
    expect([statusWrites(sound), state().objects.AnalysisReport.size]).toEqual([0, 0]);
    const off = mesh(reviews(1));
    const { runs } = start(off, defaultSettings);
    await off.time.pass(MINUTE);
    expect([statusWrites(off), runs()]).toEqual([0, 0]);
  });

  it('keep what others wrote into the status', async () => {
    const conditions = [{ type: 'Theirs', status: 'True' }];
    const made = mesh(reviews(1, { status: { conditions } }));
    start(made);
    expect(await made.time.until(() => codesOf(made).length > 0, MINUTE)).toBe(true);
    expect(statusOf(made)).toMatchObject({ conditions });
  });

  it('name the newest version, although an older one is in force', async () => {
    const made = mesh(reviews(1, { host: 'reviews' }));
    const { state } = start(made);
    await made.time.pass(MINUTE);
    made.server.set(reviews(2, { host: 'reviews', timeout: 'soon' }));
    expect(await made.time.until(() => codesOf(made).includes('IST0106'), MINUTE)).toBe(true);
    expect(statusOf(made)).toMatchObject({ observedGeneration: 2 });
    expect(state().objects.VirtualService.size).toBe(1);
  });

  it('are left out where the annotation of the object suppresses them', async () => {
    const made = mesh(reviews(1, { annotations: { 'galley.istio.io/analyze-suppress': 'IST0101' } }));
    start(made);
    await made.time.pass(MINUTE);
    expect(statusWrites(made)).toBe(0);
  });
});

describe('the analysis behind them', () => {
  it('runs once for changes within PILOT_ANALYSIS_INTERVAL, and not for a written status', async () => {
    const made = mesh(reviews(1));
    const { runs } = start(made);
    expect(await made.time.until(() => codesOf(made).length > 0, MINUTE)).toBe(true);
    // The lock is a ConfigMap, a kind that analyzers read.
    await made.time.pass(MINUTE);
    const before = runs();
    await made.time.pass(10 * MINUTE);
    expect([runs() - before, before]).toEqual([0, 2]);
    for (let i = 2; i < 12; i++) {
      made.server.set(reviews(i, { host: `nowhere-${i}`, status: statusOf(made) }));
      await made.time.pass(1_500);
    }
    await made.time.pass(MINUTE);
    expect(runs() - before).toBeLessThanOrEqual(3);
    expect(statusOf(made)).toMatchObject({ observedGeneration: 11 });
  });

  it('forgets an object that is deleted', async () => {
    const made = mesh(reviews(1));
    const { state } = start(made);
    expect(await made.time.until(() => state().objects.AnalysisReport.size === 1, MINUTE)).toBe(true);
    made.server.remove(reviews(1));
    expect(await made.time.until(() => state().objects.AnalysisReport.size === 0, MINUTE)).toBe(true);
  });
});

/** What the journal has of an earlier process. */
function recorded(fact: Parameters<Parameters<Adapter['start']>[0]['submit']>[0][number]): Adapter {
  return {
    source: `analysis/${CLUSTER}`,
    start: sink => sink.submit([fact]),
    stop: () => Promise.resolve(),
    status: () => ({ synced: true, waiting: [], troubles: [], unreadable: [] }),
  };
}
