// Which queries the tracker runs again after a change, and which proxies share a value. That values are right after any
// history is a property: test/property/tracker.test.ts.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import {
  type Derivation,
  KEY_SEPARATOR,
  type ProxyReader,
  type Query,
  type Selection,
} from '../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import type { State } from '../../../../src/core/state.ts';
import { put, remove, step } from '../../world.ts';
import { authentication, changedMesh, modeOf, proxy, query, runsOf, start } from './tracker-scene.ts';

describe('a query runs again', () => {
  const cases: readonly [string, (reader: ProxyReader) => unknown, (state: State) => State, (state: State) => State][] =
    [
      [
        'an object',
        reader => reader.object('PeerAuthentication', 'prod/one'),
        state => put(state, authentication('one', 'DISABLE')).state,
        state => put(state, authentication('two', 'DISABLE')).state,
      ],
      [
        'an object that was missed',
        reader => reader.object('PeerAuthentication', 'prod/three'),
        state => put(state, authentication('three')).state,
        state => put(state, authentication('four')).state,
      ],
      [
        'an object of a kind whose table is empty',
        reader => reader.object('Gateway', 'prod/one'),
        state =>
          put(state, {
            apiVersion: 'networking.istio.io/v1',
            kind: 'Gateway',
            metadata: { name: 'one', namespace: 'prod' },
            spec: { servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }] },
          }).state,
        state => put(state, authentication('three')).state,
      ],
      [
        'a range that gained an object',
        reader => reader.objects('PeerAuthentication', 'prod/'),
        state => put(state, authentication('three')).state,
        state => put(state, authentication('three', 'STRICT', 'production')).state,
      ],
      [
        'a range that lost an object',
        reader => reader.objects('PeerAuthentication', 'prod/'),
        state => remove(state, authentication('one')).state,
        state => put(state, authentication('one', 'STRICT', 'pro')).state,
      ],
      [
        'an index',
        reader => reader.indexed('podsByIp', 'Kubernetes/10.0.0.7'),
        state => put(state, pod('here', '10.0.0.7')).state,
        state => put(state, pod('there', '10.0.0.77')).state,
      ],
      [
        'a field of the mesh configuration',
        reader => reader.mesh('accessLogFile'),
        state => changedMesh(state, { accessLogFile: '/dev/stdout' }),
        state => changedMesh(state, { accessLogFormat: 'x' }),
      ],
      [
        'a setting',
        reader => reader.setting('clusterId'),
        state => step(state, { kind: 'Engine', source: 'runtime', settings: { clusterId: 'other' } }).state,
        state => step(state, { kind: 'Engine', source: 'runtime', settings: { revision: 'other' } }).state,
      ],
      [
        'a feature flag',
        reader => reader.feature('PILOT_HTTP10'),
        state => step(state, { kind: 'Engine', source: 'runtime', settings: { env: { PILOT_HTTP10: 'true' } } }).state,
        state => step(state, { kind: 'Engine', source: 'runtime', settings: { env: { PILOT_HTTP10: 'false' } } }).state,
      ],
    ];

  for (const [what, run, relevant, irrelevant] of cases) {
    it(`only if a read changed: ${what}`, () => {
      const tracker = new Tracker();
      const read = query('read', run);
      const get = (state: State) => () => tracker.get(state, undefined, read, '');
      expect(runsOf(tracker, get(start))).toBe(1);
      expect(runsOf(tracker, get(start))).toBe(0);
      const apart = irrelevant(start);
      expect(runsOf(tracker, get(apart))).toBe(0);
      expect(runsOf(tracker, get(relevant(apart)))).toBe(1);
    });
  }

  it('if an object it read changed; its caller only if its value changed', () => {
    const tracker = new Tracker();
    const count = query('count', reader => reader.objects('PeerAuthentication').length);
    const twice = query('twice', reader => reader.get(count, '') * 2);
    expect(tracker.get(start, undefined, twice, '')).toBe(4);
    const other = put(start, authentication('one', 'DISABLE')).state;
    expect(runsOf(tracker, () => tracker.get(other, undefined, twice, ''))).toBe(1);
    const more = put(other, authentication('three')).state;
    expect(runsOf(tracker, () => expect(tracker.get(more, undefined, twice, '')).toBe(6))).toBe(2);
  });

  it('and keeps the identity of its value if the content is equal', () => {
    const tracker = new Tracker();
    const names = query('names', reader => ({
      names: reader.objects('PeerAuthentication').map(({ name }) => name),
      mode: tracker.stats.runs < 0 ? 'never' : 'always',
    }));
    const before = tracker.get(start, undefined, names, '');
    const after = tracker.get(put(start, authentication('one', 'DISABLE')).state, undefined, names, '');
    expect(after).toBe(before);
    expect(tracker.get(put(start, authentication('three')).state, undefined, names, '')).not.toBe(before);
  });

  it('and treats values whose content is not enumerable as different', () => {
    const tracker = new Tracker();
    class Hidden {
      readonly #count: number;
      constructor(count: number) {
        this.#count = count;
      }
      get count(): number {
        return this.#count;
      }
    }
    const hidden = query('hidden', reader => ({
      map: new Map([['n', reader.objects('PeerAuthentication').length]]),
      own: new Hidden(reader.objects('PeerAuthentication').length),
    }));
    tracker.get(start, undefined, hidden, '');
    const more = tracker.get(put(start, authentication('three')).state, undefined, hidden, '');
    expect([more.map.get('n'), more.own.count]).toEqual([3, 3]);
  });

  it('if it threw the last time', () => {
    const tracker = new Tracker();
    const strict = query('strict', (reader, key) => {
      const found = reader.get(modeOf, key);
      if (found === undefined) throw new Error(`${key} is missing`);
      return found;
    });
    expect(() => tracker.get(start, undefined, strict, 'prod/three')).toThrow('prod/three is missing');
    expect(() => tracker.get(start, undefined, strict, 'prod/three')).toThrow('prod/three is missing');
    expect(tracker.get(put(start, authentication('three')).state, undefined, strict, 'prod/three')).toBe('STRICT');
  });
});

describe('a value is shared', () => {
  const alpha = proxy('alpha', { namespace: 'prod', ip: '10.0.0.1', labels: { app: 'a' } });
  const beta = proxy('beta', { namespace: 'prod', ip: '10.0.0.2', labels: { app: 'a' } });
  const gamma = proxy('gamma', { namespace: 'test', ip: '10.0.0.1', labels: { app: 'c' } });
  const inNamespace = query('inNamespace', reader => [reader.facet('namespace')]);

  it('by proxies that agree in the facets it asked for', () => {
    const tracker = new Tracker();
    const through = query('through', reader => [reader.get(inNamespace, '')]);
    const value = tracker.get(start, alpha, through, '');
    expect(tracker.get(start, beta, through, '')).toBe(value);
    expect(tracker.get(start, gamma, through, '')).toEqual([['test']]);
    expect(tracker.stats.runs).toBe(4);
  });

  it('by proxies with equal metadata values and equal extension support', () => {
    const tracker = new Tracker();
    const labels = query('labels', reader => [reader.metadata('LABELS'), reader.hasExtension('lua')]);
    const value = tracker.get(start, alpha, labels, '');
    expect(tracker.get(start, beta, labels, '')).toBe(value);
    expect(tracker.get(start, { ...beta, extensions: new Set(['lua']) }, labels, '')).toBe(value);
    expect(tracker.get(start, { ...beta, extensions: new Set(['x']) }, labels, '')).toEqual([{ app: 'a' }, false]);
    expect(tracker.get(start, gamma, labels, '')).toEqual([{ app: 'c' }, true]);
  });

  it('by proxies with equal derived facets, however each was derived', () => {
    const tracker = new Tracker();
    const lastOfIp: Derivation<string> = {
      name: 'lastOfIp',
      run: reader => `${reader.facet('ips')[0]!.at(-1)}${reader.object('PeerAuthentication', 'prod/one')?.labels.mode}`,
    };
    const shown = query('shown', reader => [reader.derived(lastOfIp)]);
    const value = tracker.get(start, alpha, shown, '');
    expect(tracker.get(start, gamma, shown, '')).toBe(value);
    expect(tracker.get(start, beta, shown, '')).toEqual(['2STRICT']);
    const other = put(start, authentication('one', 'DISABLE')).state;
    expect(tracker.get(other, alpha, shown, '')).toEqual(['1DISABLE']);
    expect(tracker.get(other, gamma, shown, '')).toBe(tracker.get(other, alpha, shown, ''));
  });

  it('by proxies that connect after sweeps', () => {
    const tracker = new Tracker();
    const value = tracker.get(start, alpha, inNamespace, '');
    for (let i = 0; i < 5; i++) {
      tracker.sweep();
      expect(tracker.get(start, alpha, inNamespace, '')).toBe(value);
    }
    const labels = query('labels', reader => [reader.metadata('LABELS')]);
    const first = tracker.get(start, alpha, labels, '');
    for (let i = 0; i < 5; i++) {
      tracker.sweep();
      tracker.get(start, alpha, labels, '');
    }
    expect(tracker.get(start, beta, labels, '')).toBe(first);
  });

  it('by all proxies if it reads no facet, and a facet read without a proxy throws', () => {
    const tracker = new Tracker();
    const objects = query('objects', reader => reader.objects('PeerAuthentication').map(({ name }) => name));
    const value = tracker.get(start, alpha, objects, '');
    expect(tracker.get(start, undefined, objects, '')).toBe(value);
    tracker.get(start, alpha, inNamespace, '');
    expect(() => tracker.get(start, undefined, inNamespace, '')).toThrow('without a proxy');
  });

  it('not by another proxy that reuses the connection id', () => {
    const tracker = new Tracker();
    const home: Derivation<string> = { name: 'home', run: reader => reader.facet('namespace') };
    const shown = query('shown', reader => [reader.derived(home)]);
    expect(tracker.get(start, alpha, shown, '')).toEqual(['prod']);
    expect(tracker.get(start, { ...gamma, connection: 'alpha' }, shown, '')).toEqual(['test']);
  });

  it('no longer, once a callee with an unchanged value asks for a new facet in which they differ', () => {
    const tracker = new Tracker();
    const strictHere = query(
      'strictHere',
      reader => reader.object('PeerAuthentication', 'prod/three') === undefined || reader.facet('namespace') === 'prod',
    );
    const shown = query('shown', reader => [reader.get(strictHere, '')]);
    expect(tracker.get(start, gamma, shown, '')).toEqual([true]);
    const more = put(start, authentication('three')).state;
    expect(tracker.get(more, alpha, shown, '')).toEqual([true]);
    expect(tracker.get(more, gamma, shown, '')).toEqual([false]);
  });
});

describe('a run that gives a long list', () => {
  const members: Query<string, readonly number[]> = {
    name: 'members',
    run: (_reader, count) => Array.from({ length: Number(count) }, (_, i) => i),
  };

  it('counts as more work than one run', () => {
    const tracker = new Tracker();
    const both = (one: string, other: string) => (): object => [
      tracker.get(start, undefined, members, one),
      tracker.get(start, undefined, members, other),
    ];
    expect(tracker.within(10, both('1', '2')).value).toBeDefined();
    expect(tracker.within(10, both('20000', '3')).value).toBeUndefined();
    expect(tracker.within(10, both('20000', '3')).value).toBeDefined();
  });
});

describe('an interrupted run that was lent the calls of another list', () => {
  interface Named {
    readonly key: string;
  }
  const modes: Selection<Named, string | undefined> = {
    name: 'modes',
    run: (reader, { key }) => reader.object('PeerAuthentication', key)?.labels.mode,
  };
  const all: Selection<{ readonly list: readonly Named[] }, readonly unknown[]> = {
    name: 'all',
    lineage: () => 'all',
    run: (reader, { list }) => [...reader.selectEach(modes, list), reader.mesh('accessLogFile')],
  };

  it('shares no record with the run that replaces the other', () => {
    const tracker = new Tracker();
    const [one, two, three] = ['prod/one', 'prod/two', 'prod/three'].map(key => ({ key }));
    const shorter = { list: [one!, two!] };
    const longer = { list: [one!, two!, three!] };
    const value = (state: State, of: typeof shorter) => tracker.select(state, undefined, all, of);
    value(start, shorter);
    // Runs for the longer list, takes two calls of the shorter one, and is interrupted before the third.
    expect(tracker.within(1, () => value(start, longer)).value).toBeUndefined();
    let state = changedMesh(start, { accessLogFile: '/dev/stdout' });
    value(state, shorter);
    value(state, longer);
    // The first call is made again and gives an equal value.
    state = put(state, {
      ...authentication('one'),
      metadata: { name: 'one', namespace: 'prod', labels: { mode: 'STRICT', x: 'y' } },
    }).state;
    value(state, shorter);
    value(state, longer);
    state = put(state, authentication('one', 'DISABLE')).state;
    expect(value(state, shorter)).toEqual(['DISABLE', 'STRICT', '/dev/stdout']);
    expect(value(state, longer)).toEqual(['DISABLE', 'STRICT', undefined, '/dev/stdout']);
  });
});

describe('a query with a record argument', () => {
  const joined: Query<{ readonly host: string; readonly subset: string }, readonly string[]> = {
    name: 'joined',
    key: ({ host, subset }) => [host, subset].join(KEY_SEPARATOR),
    run: (_, { host, subset }) => [host, subset],
  };

  it('runs once for arguments with equal keys', () => {
    const tracker = new Tracker();
    const value = tracker.get(start, undefined, joined, { host: 'a', subset: 'b' });
    expect(tracker.get(start, undefined, joined, { host: 'a', subset: 'b' })).toBe(value);
    expect(tracker.stats.runs).toBe(1);
  });

  it('does not confuse arguments whose parts join to the same text', () => {
    const tracker = new Tracker();
    expect(tracker.get(start, undefined, joined, { host: 'a|b', subset: 'c' })).toEqual(['a|b', 'c']);
    expect(tracker.get(start, undefined, joined, { host: 'a', subset: 'b|c' })).toEqual(['a', 'b|c']);
  });
});

describe('a query that reads itself', () => {
  it('throws an error with its name and argument', () => {
    const tracker = new Tracker();
    const one: Query<string, unknown> = query('one', (reader, arg) => reader.get(two, arg));
    const two: Query<string, unknown> = query('two', (reader, arg) => reader.get(one, arg));
    expect(() => tracker.get(start, undefined, one, 'x')).toThrow('query one(x) reads itself');
    const loop: Derivation<string> = { name: 'loop', run: reader => reader.derived(loop) };
    const looped = query('looped', reader => reader.derived(loop));
    expect(() => tracker.get(start, proxy('client'), looped, '')).toThrow('reads itself');
    expect(tracker.get(start, undefined, modeOf, 'prod/one')).toBe('STRICT');
  });

  it('may call itself with another argument', () => {
    const tracker = new Tracker();
    const sum: Query<string, number> = query('sum', (reader, n) =>
      n === '0' ? 0 : Number(n) + reader.get(sum, String(Number(n) - 1)),
    );
    expect(tracker.get(start, undefined, sum, '4')).toBe(10);
  });
});

function pod(name: string, ip: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'prod' },
    spec: { containers: [{ name: 'app' }] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

describe('a query that asks a proxy about thousands of selectors', () => {
  /** Looked for one by one, a facet at a time: half a minute. */
  const CPU_MS_MAX = 5_000;
  const asking = (part: number) =>
    query(`asking ${part}`, reader => {
      let yes = 0;
      for (let i = 0; i < 15_000; i++) {
        if (reader.derived({ name: `selector ${part} ${i}`, run: own => own.facet('id') === `client-${i}.default` }))
          yes++;
      }
      return yes;
    });

  it('costs what follows their number, and so does what calls it', () => {
    const tracker = new Tracker();
    const [first, second] = [asking(1), asking(2)];
    const both = query('both', reader => reader.get(first, '') + reader.get(second, ''));
    const before = process.cpuUsage();
    expect(tracker.get(start, proxy('p', { name: 'client-7' }), both, '')).toBe(2);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  });
});
