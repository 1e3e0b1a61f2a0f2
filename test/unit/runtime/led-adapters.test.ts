// Sources of a process that is one of several replicas: they are read while it leads, by new adapters for each term.

import { describe, expect, it } from 'vitest';
import type { Adapter, Sink, SourceStatus } from '../../../src/adapters/adapter.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { LedAdapters } from '../../../src/runtime/led-adapters.ts';
import { settle } from '../../sim/fake-clock.ts';

class Source implements Adapter {
  readonly source = 'file/Kubernetes';
  readonly did: string[];
  readonly #name: string;
  isSynced = false;

  constructor(name: string, did: string[]) {
    this.#name = name;
    this.did = did;
  }

  async start(): Promise<void> {
    this.did.push(`${this.#name} starts`);
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

  it('says what it waits for only where it is read', async () => {
    const { led, adapter } = replica();
    void adapter.start(sink);
    expect(adapter.status().waiting).toEqual([]);
    led.lead();
    await settle();
    expect(adapter.status().waiting).toEqual(['a list']);
  });
});
