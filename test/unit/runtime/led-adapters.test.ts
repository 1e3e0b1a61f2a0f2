// Sources of a process that is one of several replicas: they are read while it leads, by new adapters for each term.

import { describe, expect, it } from 'vitest';
import type { Adapter, Sink, SourceStatus } from '../../../src/adapters/adapter.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { LedAdapters } from '../../../src/runtime/led-adapters.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

class Source implements Adapter {
  readonly source = 'file/Kubernetes';
  readonly did: string[];
  readonly startsAfterLists: boolean;
  readonly #name: string;
  readonly #isListed: Promise<void>;
  isSynced = false;

  constructor(name: string, did: string[], startsAfterLists = false, isListed: Promise<void> = Promise.resolve()) {
    this.#name = name;
    this.did = did;
    this.startsAfterLists = startsAfterLists;
    this.#isListed = isListed;
  }

  async start(): Promise<void> {
    this.did.push(`${this.#name} starts`);
    await this.#isListed;
  }

  async stop(): Promise<void> {
    this.did.push(`${this.#name} stops`);
  }

  status(): SourceStatus {
    return { synced: this.isSynced, waiting: ['a list'], troubles: [], unreadable: [] };
  }
}

const listed: State = { ...emptyState, synced: emptyState.synced.with('file/Kubernetes', 3) };
const sink = {} as Sink;
const NEVER = { ms: 0, after: () => ({ cancel: () => undefined }) };

function replica() {
  const did: string[] = [];
  const logged: string[] = [];
  let state: State = emptyState;
  let made = 1;
  const led = new LedAdapters({
    first: [new Source('1', did)],
    again: async () => [new Source(String(++made), did)],
    state: () => state,
    log: (_level, message) => void logged.push(message),
    late: NEVER,
  });
  const fold = (next: State): void => {
    state = next;
    led.onState(next);
  };
  return { led, did, logged, fold, adapter: led.adapters[0]! };
}

describe('a source of one of several replicas', () => {
  it('is read from the begin of a term to its end, by a new adapter each time', async () => {
    const { led, did, adapter } = replica();
    void adapter.start(sink);
    await settle();
    expect(did).toEqual([]);
    led.lead();
    await settle();
    led.follow();
    led.lead();
    await settle();
    expect(did).toEqual(['1 starts', '1 stops', '2 starts']);
    await adapter.stop();
    expect(did.at(-1)).toBe('2 stops');
  });

  it('is not read in a term that ended before it could begin', async () => {
    const { led, did, adapter } = replica();
    void adapter.start(sink);
    led.lead();
    led.follow();
    await settle();
    expect(did).toEqual([]);
  });

  it('is listed once the log says so, whichever replica listed it', async () => {
    const { fold, adapter } = replica();
    let isListed = false;
    void adapter.start(sink).then(() => {
      isListed = true;
    });
    await settle();
    expect([isListed, adapter.status().synced]).toEqual([false, false]);
    fold(listed);
    await settle();
    expect([isListed, adapter.status().synced]).toEqual([true, true]);
  });

  it('stops and is read anew in the next term although a source before it cannot be stopped', async () => {
    const did: string[] = [];
    const logged: string[] = [];
    const made = (name: string): readonly Adapter[] => {
      const stuck = Object.assign(new Source(`stuck ${name}`, did), { stop: () => Promise.reject(new Error('stuck')) });
      return [stuck, new Source(name, did)];
    };
    const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
    const led = new LedAdapters({
      first: made('1'),
      again: async () => made('2'),
      state: () => emptyState,
      log,
      late: NEVER,
    });
    for (const adapter of led.adapters) void adapter.start(sink);
    led.lead();
    await settle();
    led.follow();
    led.lead();
    await settle();
    expect(did).toEqual(['stuck 1 starts', '1 starts', '1 stops', 'stuck 2 starts', '2 starts']);
    expect(logged).toEqual(['error: file/Kubernetes: stuck']);
  });

  it('says what it waits for only where it is read', async () => {
    const { led, adapter } = replica();
    void adapter.start(sink);
    expect(adapter.status().waiting).toEqual([]);
    led.lead();
    await settle();
    expect(adapter.status().waiting).toEqual(['a list']);
  });
});

describe('a source that fails at the begin of a term', () => {
  function failing(fails: { opens?: number; starts?: number }) {
    const did: string[] = [];
    const logged: string[] = [];
    const clock = new FakeClock();
    let { opens = 0, starts = 0 } = fails;
    let made = 0;
    const make = (): readonly Adapter[] => {
      const name = String(++made);
      const source = new Source(name, did);
      const start = async (): Promise<void> => {
        did.push(`${name} starts`);
        if (made > 1 && starts-- > 0) throw new Error('the folder is not there');
      };
      return [Object.assign(source, { start })];
    };
    const led = new LedAdapters({
      first: make(),
      again: async () => {
        if (opens-- > 0) throw new Error('the token file is not there');
        return make();
      },
      state: () => listed,
      log: (_level, message) => void logged.push(message),
      late: { ms: 0, after: (ms, run) => clock.after(ms, run) },
      onListed: () => void did.push('listed'),
    });
    for (const adapter of led.adapters) void adapter.start(sink);
    led.lead();
    led.follow();
    return { led, did, logged, clock };
  }
  const nextTerm = async ({ led, did }: ReturnType<typeof failing>): Promise<void> => {
    await settle();
    led.lead();
    await settle();
    led.follow();
    await settle();
    did.splice(0);
    led.lead();
    await settle();
  };

  it('is opened again in the same term until it can be', async () => {
    const scene = failing({ opens: 2 });
    await nextTerm(scene);
    const { did, logged, clock } = scene;
    expect(did).toEqual([]);
    expect(logged).toEqual(['the sources cannot be opened: the token file is not there']);
    clock.next(clock.now() + 1_000);
    await settle();
    expect([did, logged.length]).toEqual([[], 2]);
    clock.next(clock.now() + 2_000);
    await settle();
    expect(did).toEqual(['2 starts', 'listed']);
  });

  it('is started again, by a new adapter, until it is listed, and only then is it listed', async () => {
    const scene = failing({ starts: 1 });
    await nextTerm(scene);
    const { did, clock } = scene;
    expect(did).toEqual(['2 starts']);
    clock.next(clock.now() + 1_000);
    await settle();
    expect(did).toEqual(['2 starts', '2 stops', '3 starts', 'listed']);
  });

  it('is not tried again after the term', async () => {
    const scene = failing({ opens: 5 });
    await nextTerm(scene);
    const { led, did, clock } = scene;
    led.follow();
    await settle();
    expect([did, clock.waiting]).toEqual([[], 0]);
    led.lead();
    await settle();
    expect(clock.waiting).toBe(1);
  });
});

describe('a source that writes, at one of several replicas', () => {
  function leading(again: () => Promise<readonly Adapter[]> = async () => [], flags: Partial<Adapter> = {}) {
    const did: string[] = [];
    let list: () => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const isListed = new Promise<void>((resolve, reject) => {
      list = resolve;
      fail = reject;
    });
    const cluster = Object.assign(new Source('cluster', did, false, isListed), flags);
    const first = [new Source('writer', did, true), cluster];
    const timers: (() => void)[] = [];
    const after = (_: number, run: () => void) => {
      timers.push(run);
      return { cancel: () => undefined };
    };
    const late = { ms: 30_000, after };
    const onListed = (): void => void did.push('listed');
    const led = new LedAdapters({ first, again, state: () => listed, log: () => undefined, late, onListed });
    for (const adapter of led.adapters) void adapter.start(sink);
    led.lead();
    const pass = (): void => {
      for (const fire of timers) fire();
    };
    return { led, did, list: () => list(), fail: () => fail(new Error('gone')), pass };
  }

  it.each([
    [{}, false],
    [{ mayBeLate: true }, true],
    // The log has a list of it.
    [{ mayBeOld: true }, true],
  ] as const)('waits for a source that is down no longer than its time: %j, %j', async (flags, starts) => {
    const { did, pass, fail } = leading(undefined, flags);
    await settle();
    fail();
    await settle();
    expect(did).toEqual(['cluster starts']);
    pass();
    await settle();
    expect(did.includes('writer starts')).toBe(starts);
  });

  it('starts once this replica has listed the others, although another replica has', async () => {
    const { did, list } = leading();
    await settle();
    expect(did).toEqual(['cluster starts']);
    list();
    await settle();
    expect(did).toEqual(['cluster starts', 'listed', 'writer starts']);
  });

  it('does not start when a source cannot be listed', async () => {
    const { did, fail } = leading();
    await settle();
    fail();
    await settle();
    expect(did).toEqual(['cluster starts']);
  });

  it('does not start for a list that ends after its term', async () => {
    const { led, did, list } = leading(() => new Promise(() => undefined));
    await settle();
    led.follow();
    led.lead();
    list();
    await settle();
    expect(did).toEqual(['cluster starts', 'cluster stops']);
  });
});
