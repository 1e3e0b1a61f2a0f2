import { describe, expect, it } from 'vitest';
import type { SourceStatus } from '../../../src/adapters/adapter.ts';
import { MemoryAdapter } from '../../../src/adapters/memory/memory-adapter.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { Sources, showAge } from '../../../src/runtime/sources.ts';

const MINUTE = 60_000;

/** From `asked` on they are sources that are asked. */
function sources(statuses: readonly SourceStatus[], state: State = emptyState, asked = statuses.length) {
  const logged: string[] = [];
  const adapters = statuses.map((status, i) => {
    const adapter = new MemoryAdapter(`c${i}`);
    adapter.status = () => status;
    return i < asked ? adapter : Object.assign(adapter, { onState: () => undefined });
  });
  const clock = { now: () => 90 * MINUTE, after: () => ({ cancel: () => undefined }) };
  const log = (_: string, message: string): void => void logged.push(message);
  return { logged, sources: new Sources({ adapters, state, asOf: 30 * MINUTE, clock, log }) };
}

const well: SourceStatus = { synced: true, waiting: [], troubles: [], unreadable: [] };
const waiting: SourceStatus = { synced: false, waiting: ['Pod'], troubles: ['pods is forbidden'], unreadable: [] };

describe('sources read on request', () => {
  it('begin once the watched sources are synced', async () => {
    const { sources: all } = sources([well, waiting], emptyState, 1);
    await all.whenIndependentReady();
    expect(all.ready).toBe(false);
  });
});

describe('a source that cannot be stopped', () => {
  it('keeps no other running', async () => {
    const stopped: string[] = [];
    const stuck = Object.assign(new MemoryAdapter('c0'), { stop: () => Promise.reject(new Error('stuck')) });
    const next = Object.assign(new MemoryAdapter('c1'), { stop: async () => void stopped.push('c1') });
    const logged: string[] = [];
    const log = (_: string, message: string): void => void logged.push(message);
    const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
    await new Sources({ adapters: [stuck, next], state: emptyState, asOf: 0, clock, log }).stop();
    expect([stopped, logged]).toEqual([['c1'], ['memory/c0: stuck']]);
  });
});

describe('a source that writes', () => {
  const held = { ...emptyState, synced: emptyState.synced.with('memory/c1', 5) };
  const isListed = async (statuses: readonly SourceStatus[]): Promise<boolean> => {
    const { sources: all } = sources(statuses, held);
    let listed = false;
    void all.whenListed().then(() => {
      listed = true;
    });
    await all.whenIndependentReady();
    await new Promise(resolve => setImmediate(resolve));
    return listed;
  };

  it('waits for a source that only the journal knows, although it is served from', async () => {
    expect(await isListed([well, waiting])).toBe(false);
  });

  it('begins when every source has been listed in this process', async () => {
    expect(await isListed([well, well])).toBe(true);
  });

  it.each([
    ['registry', { mayBeLate: true }, true, true],
    ['registry that the journal does not know', { mayBeLate: true }, false, true],
    ['other control plane', { mayBeOld: true }, true, true],
    ['other control plane that the journal does not know', { mayBeOld: true }, false, false],
    ['API server', {}, true, false],
  ] as const)('waits for a %s that is down no longer than its time: %j, %j', async (_what, flags, isKnown, begins) => {
    const adapter = Object.assign(new MemoryAdapter('c1'), { status: () => waiting, ...flags });
    const timers: (() => void)[] = [];
    const after = (_: number, run: () => void) => {
      timers.push(run);
      return { cancel: () => undefined };
    };
    const clock = { now: () => 0, after };
    const logged: string[] = [];
    const log = (_: string, message: string): void => void logged.push(message);
    const state = isKnown ? held : emptyState;
    const all = new Sources({ adapters: [adapter], state, asOf: 0, clock, log, lateMs: 30_000 });
    let listed = false;
    void all.whenListed().then(() => {
      listed = true;
    });
    await new Promise(resolve => setImmediate(resolve));
    expect(listed).toBe(false);
    for (const fire of timers) fire();
    await new Promise(resolve => setImmediate(resolve));
    expect(listed).toBe(begins);
    const how = isKnown ? 'with what the journal has of it' : 'without it';
    expect(logged).toEqual(begins ? [`memory/c1 has not been listed within 30 s; going on ${how}`] : []);
  });
});

describe('readiness', () => {
  it('requires all sources', () => {
    expect(sources([well, well]).sources.readiness()).toEqual({ ready: true, text: 'ready\n' });
    const { ready, text } = sources([well, waiting]).sources.readiness();
    expect(ready).toBe(false);
    expect(text).toContain('not ready');
    expect(text).toContain('memory/c1: not listed yet: Pod\nmemory/c1: pods is forbidden');
    expect(text).not.toContain('memory/c0');
  });

  it('comes from the journal for a source recorded there, with the age of the record', () => {
    const state = { ...emptyState, synced: emptyState.synced.with('memory/c0', 5) };
    const { ready, text } = sources([waiting], state).sources.readiness();
    expect(ready).toBe(true);
    expect(text).toMatch(/^ready, with what the journal says, 1h old\nmemory\/c0: /);
  });

  it('waits for a registry that never answers only as long as for a remote cluster', () => {
    const registry = (source: string, mayBeLate: boolean) =>
      Object.assign(new MemoryAdapter(source), { status: () => waiting, mayBeLate });
    const readinessAfter = (...adapters: readonly MemoryAdapter[]) => {
      const timers: (() => void)[] = [];
      const logged: string[] = [];
      const clock = {
        now: () => 0,
        after: (_: number, run: () => void) => {
          timers.push(run);
          return { cancel: () => undefined };
        },
      };
      const log = (_: string, message: string): void => void logged.push(message);
      const all = new Sources({ adapters, state: emptyState, asOf: 0, clock, log, lateMs: 30_000 });
      expect(all.ready).toBe(false);
      for (const fire of timers) fire();
      return { ...all.readiness(), logged };
    };
    const { ready, text, logged } = readinessAfter(registry('consul', true));
    expect(ready).toBe(true);
    expect(text).toMatch(/^ready\nmemory\/consul: not listed yet/);
    expect(logged).toEqual(['memory/consul has not been listed within 30 s; going on without it']);
    expect(readinessAfter(registry('consul', true), registry('kube', false)).ready).toBe(false);
  });

  it('names unreadable objects, since when and why, even if everything else was listed', () => {
    const unreadable = [{ what: '/config/sub', why: 'permission denied', since: 0 }];
    const { ready, text } = sources([{ ...well, unreadable }]).sources.readiness();
    expect(ready).toBe(true);
    expect(text).toBe(
      'ready\nmemory/c0: /config/sub cannot be read since 1970-01-01T00:00:00.000Z (permission denied); what was known of it stays\n',
    );
  });

  it('names a source of the journal that is not configured', () => {
    const state = { ...emptyState, synced: emptyState.synced.with('kube/gone', 5) };
    expect(sources([well], state).logged).toEqual([expect.stringContaining('kube/gone')]);
  });
});

describe('the age of a record', () => {
  it.each([
    [0, '0s'],
    [-5, '0s'],
    [59_999, '59s'],
    [61_000, '1m 1s'],
    [26 * 60 * MINUTE, '1d 2h'],
  ])('of %d ms is printed as %s', (ms, text) => {
    expect(showAge(ms)).toBe(text);
  });
});
