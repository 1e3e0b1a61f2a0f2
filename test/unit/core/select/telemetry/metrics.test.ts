import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { keptKeys } from '../../../../../src/core/base/keys.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { type StatsSpec, stats } from '../../../../../src/core/select/telemetry/metrics.ts';
import type { TrafficClass } from '../../../../../src/core/select/telemetry/traffic-class.ts';
import { ask } from '../../../world.ts';
import { type Levels, proxy, withLevels } from './levels.ts';

const MESH: JsonObject = {
  defaultProviders: { metrics: ['prometheus'] },
  extensionProviders: [
    { name: 'second', prometheus: {} },
    { name: 'log', envoyFileAccessLog: { path: '/log' } },
  ],
};

const specs = (levels: Levels, traffic: TrafficClass = 'outbound', mesh = MESH): readonly StatsSpec[] =>
  ask(withLevels(levels, mesh), stats, traffic, proxy);

/** The entries of the one filter; undefined: there is no filter. */
function shown(overrides: readonly JsonObject[], traffic?: TrafficClass) {
  const [only, ...more] = specs({ namespace: { metrics: [{ overrides }] } }, traffic);
  expect(more).toEqual([]);
  return only?.overrides.map(
    ({ name, drop, dimensions, tagsToRemove }) =>
      `${drop ? '!' : ''}${name}${Object.entries(dimensions ?? {}).map(([tag, value]) => ` ${tag}=${value}`)}${tagsToRemove.map(tag => ` -${tag}`)}`,
  );
}

const off = (mode?: string): JsonObject => ({ disabled: true, ...(mode === undefined ? {} : { match: { mode } }) });

describe('metrics', () => {
  it('are off for a mode that is switched off, and all come back with any later override of the mode', () => {
    expect(shown([off()])).toBeUndefined();
    expect(shown([off('SERVER')])).toEqual([]);
    expect(shown([off('SERVER')], 'inbound')).toBeUndefined();
    expect(shown([off('CLIENT')], 'gateway')).toBeUndefined();
    expect(shown([off(), { match: { metric: 'REQUEST_COUNT' }, disabled: false }])).toEqual(['requests_total']);
    expect(shown([off(), { match: { metric: 'REQUEST_COUNT', mode: 'CLIENT' }, disabled: false }], 'inbound')).toBe(
      undefined,
    );
    const hidden = { match: { metric: 'REQUEST_SIZE' }, disabled: true };
    expect(shown([hidden, off(), { match: { metric: 'REQUEST_COUNT' } }])).toEqual([
      'requests_total',
      '!request_bytes',
    ]);
    expect(shown([{ ...off(), tagOverrides: { a: { value: 'x' } } }])).toBeUndefined();
  });

  it('keep their filter when each of them is dropped singly', () => {
    const all = ['REQUEST_COUNT', 'REQUEST_DURATION', 'REQUEST_SIZE', 'RESPONSE_SIZE', 'TCP_OPENED_CONNECTIONS']
      .concat(['TCP_CLOSED_CONNECTIONS', 'TCP_SENT_BYTES', 'TCP_RECEIVED_BYTES', 'GRPC_REQUEST_MESSAGES'])
      .concat(['GRPC_RESPONSE_MESSAGES'])
      .map(metric => ({ match: { metric }, disabled: true }));
    expect(shown(all)).toHaveLength(10);
  });

  it('are listed in the order of Telemetry’s names, custom ones among them by their own', () => {
    const tagOverrides = { a: { value: 'x' } };
    expect(shown([{ tagOverrides }, { match: { customMetric: 'REQUEST_ZEBRA' }, tagOverrides }])).toEqual([
      'request_messages_total a=x',
      'response_messages_total a=x',
      'requests_total a=x',
      'request_duration_milliseconds a=x',
      'request_bytes a=x',
      'REQUEST_ZEBRA a=x',
      'response_bytes a=x',
      'tcp_connections_closed_total a=x',
      'tcp_connections_opened_total a=x',
      'tcp_received_bytes_total a=x',
      'tcp_sent_bytes_total a=x',
    ]);
  });

  it('keep the tags of a dropped metric, the last change of each tag, and custom metrics apart', () => {
    const match = { metric: 'REQUEST_COUNT' };
    expect(
      shown([
        { match, disabled: true, tagOverrides: { a: { value: 'x' }, b: { operation: 'REMOVE' } } },
        { match, tagOverrides: { b: { value: 'y' }, a: { operation: 'REMOVE' } } },
        { match: { customMetric: 'requests_total' }, tagOverrides: { c: { value: 'z' } } },
      ]),
    ).toEqual(['!requests_total b=y -a', 'requests_total c=z']);
  });

  it('sort the tags of a metric, those that are set and those that are taken away', () => {
    const tagOverrides = {
      d: { value: 'y' },
      c: { operation: 'REMOVE' },
      b: { value: 'x' },
      a: { operation: 'REMOVE' },
    };
    expect(shown([{ match: { metric: 'REQUEST_COUNT' }, tagOverrides }])).toEqual(['requests_total b=x, d=y -a, -c']);
  });

  it('of a custom name are dropped by themselves, and their mode stays on', () => {
    expect(shown([{ match: { customMetric: 'mine' }, disabled: true }])).toEqual(['!mine']);
  });

  it('go to the providers of the last entry that names any', () => {
    const named = (...names: readonly string[]) => ({ providers: names.map(name => ({ name })) });
    expect(specs({ namespace: { metrics: [named('prometheus'), named('second')] } })).toHaveLength(1);
    expect(specs({ namespace: { metrics: [named('second', 'prometheus'), {}] } })).toHaveLength(2);
    expect(specs({ root: { metrics: [named('second')] }, namespace: { metrics: [named('log', 'none')] } })).toEqual([]);
    expect(specs({ root: { metrics: [named('SECOND')] } })).toHaveLength(1);
  });

  it('apply an entry without providers to those of the entry before it', () => {
    const overrides = [{ match: { metric: 'REQUEST_COUNT' }, disabled: true }];
    const metrics = [
      { providers: [{ name: 'second' }] },
      { overrides, reportingInterval: '5s' },
      { providers: [{ name: 'second' }, { name: 'prometheus' }] },
    ];
    const [prometheus, second] = specs({ namespace: { metrics } });
    expect(prometheus).toEqual({ overrides: [], reportingInterval: undefined });
    expect(second?.overrides.map(({ drop }) => drop)).toEqual([true]);
    expect(second?.reportingInterval).toEqual({ seconds: 5, nanos: 0 });
  });

  it('of the youngest object for a workload win over older ones, and those over the namespace and the root', () => {
    const dropped = (disabled: boolean): JsonObject => ({
      metrics: [{ overrides: [{ match: { metric: 'REQUEST_COUNT' }, disabled }] }],
    });
    const drops = (levels: Levels) => specs(levels)[0]?.overrides[0]?.drop;
    expect(drops({ root: dropped(true), namespace: dropped(false) })).toBe(false);
    expect(drops({ namespace: dropped(false), workload: [dropped(true)] })).toBe(true);
    expect(drops({ workload: [dropped(true), dropped(false)] })).toBe(false);
  });

  it('share the tags of an override of all metrics, and with other classes of traffic', () => {
    const overrides = [
      { tagOverrides: { a: { value: 'x' } } },
      { match: { metric: 'REQUEST_SIZE' }, tagOverrides: { b: { value: 'y' } } },
    ];
    const state = withLevels({ namespace: { metrics: [{ overrides }] } }, MESH);
    const tracker = new Tracker();
    const tagsOf = (traffic: TrafficClass) =>
      tracker.get(state, proxy, stats, traffic).flatMap(spec => spec.overrides.map(({ dimensions }) => dimensions));
    expect(new Set([...tagsOf('outbound'), ...tagsOf('inbound')]).size).toBe(2);
    expect(tracker.stats.generated).toBe(2);
  });

  it('have tags that are many sorted in a run of its own, and the same for both', () => {
    const made = (count: number) => {
      const tags = Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`t${i}`, i % 2 ? { value: `v${i}` } : { operation: 'REMOVE' }]),
      );
      const state = withLevels({ namespace: { metrics: [{ overrides: [{ tagOverrides: tags }] }] } }, MESH);
      const tracker = new Tracker();
      const { dimensions = {}, tagsToRemove } = tracker.get(state, proxy, stats, 'outbound')[0]!.overrides[0]!;
      const names = Object.keys(dimensions);
      return { names, kept: keptKeys(dimensions), tagsToRemove, generated: tracker.stats.generated };
    };
    const few = made(2_000);
    const many = made(3_000);
    const isFew = (name: string): boolean => Number(name.slice(1)) < 2_000;
    expect(many.names.filter(isFew)).toEqual(few.names);
    expect(many.tagsToRemove.filter(isFew)).toEqual(few.tagsToRemove);
    expect(few.names).toEqual([...few.names].sort());
    expect([few.generated, many.generated]).toEqual([1, 2]);
    // Encoding need not list and sort them again.
    expect([few.kept, many.kept]).toEqual([undefined, many.names]);
  });

  it('keep a tag whose name cannot be assigned to', () => {
    const tagOverrides = Object.fromEntries([['__proto__', { value: 'v' }]]);
    const [{ dimensions } = {}] = specs({ namespace: { metrics: [{ overrides: [{ tagOverrides }] }] } })[0]!.overrides;
    expect(Object.entries(dimensions!)).toEqual([['__proto__', 'v']]);
  });

  it('have overrides that are many merged in a run of its own', () => {
    const made = (count: number) => {
      const overrides = Array.from({ length: count }, (_, i) => ({
        match: { customMetric: `m${i % 300}` },
        tagOverrides: { [`t${i}`]: { value: 'v' } },
      }));
      const tracker = new Tracker();
      const state = withLevels({ namespace: { metrics: [{ overrides }] } }, MESH);
      const [spec] = tracker.get(state, proxy, stats, 'outbound');
      return { tags: spec!.overrides.map(one => Object.keys(one.dimensions!)), generated: tracker.stats.generated };
    };
    expect(made(300).generated).toBe(300);
    const { tags, generated } = made(600);
    expect(generated).toBe(301);
    expect(tags).toHaveLength(300);
    expect(tags.flat()).toHaveLength(600);
  });
});
