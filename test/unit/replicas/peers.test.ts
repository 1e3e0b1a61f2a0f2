// What replicas know of each other: beats, who is behind, who folded another history, and questions.

import { describe, expect, it } from 'vitest';
import type { WorldPosition } from '../../../src/core/model/world-position.ts';
import type { Mirror } from '../../../src/replicas/mirror.ts';
import {
  ASK_MS_MAX,
  BEAT_MS,
  CATCH_UP_MS_MAX,
  type PeerChannel,
  Peers,
  SILENT_MS_MAX,
} from '../../../src/replicas/peers.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

/** Everything that is sent reaches every other member at once. */
class Room {
  readonly #members = new Map<
    string,
    { beat: (text: string) => void; answer?: (question: string) => Promise<string> }
  >();
  readonly silent = new Set<string>();

  channel(id: string): PeerChannel {
    const member: { beat: (text: string) => void; answer?: (question: string) => Promise<string> } = {
      beat: () => undefined,
    };
    this.#members.set(id, member);
    return {
      sendBeat: text => {
        if (!this.silent.has(id)) for (const other of this.#members.values()) other.beat(text);
      },
      onBeat: listener => {
        member.beat = listener;
      },
      ask: async (to, question, ms) => {
        expect(ms).toBe(ASK_MS_MAX);
        return this.silent.has(to) ? undefined : this.#members.get(to)?.answer?.(question);
      },
      onQuestion: (own, answer) => {
        expect(own).toBe(id);
        member.answer = answer;
      },
      close: () => void this.#members.delete(id),
    };
  }

  say(text: string): void {
    for (const { beat } of this.#members.values()) beat(text);
  }
}

/** As far as peers look into a mirror. */
class FakeMirror {
  position: WorldPosition = { log: 'l', position: 0, term: 1, leader: 'a', chain: '', facts: 0 };
  lost: string | undefined;
  unreachableSince: number | undefined;
  checks = 0;
  readonly #listeners: (() => void)[] = [];

  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  chainAt(position: number): string | undefined {
    return position > 0 && position <= this.position.position ? `chain-${position}` : undefined;
  }

  async check(): Promise<'same'> {
    this.checks++;
    return 'same';
  }

  fold(position: number): void {
    this.position = { ...this.position, position, chain: `chain-${position}` };
    for (const listener of this.#listeners) listener();
  }
}

function meeting(...ids: readonly string[]) {
  const clock = new FakeClock();
  const room = new Room();
  const members = ids.map(id => {
    const mirror = new FakeMirror();
    const said: string[] = [];
    const channel = room.channel(id);
    const peers = new Peers({
      ...{ id, clock, channel, mirror: mirror as unknown as Mirror, term: () => (id === 'a' ? 1 : undefined) },
      say: (_level, message) => void said.push(message),
    });
    return { id, mirror, peers, said, channel };
  });
  const pass = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (clock.next(until)) await settle(2);
  };
  for (const { peers } of members) peers.start();
  return { clock, room, members, pass };
}

describe('replicas', () => {
  it('hear how far each has come, which one writes, and no more of one that is silent', async () => {
    const { members, pass, room } = meeting('a', 'b', 'c');
    const [a, b, c] = members as [(typeof members)[0], (typeof members)[0], (typeof members)[0]];
    a.mirror.fold(7);
    b.mirror.fold(5);
    await pass(BEAT_MS);
    expect(c.peers.others().map(({ id, position, term }) => [id, position, term])).toEqual([
      ['a', 7, 1],
      ['b', 5, undefined],
    ]);
    expect(c.peers.furthest()).toBe(7);
    room.silent.add('a');
    await pass(SILENT_MS_MAX + BEAT_MS);
    expect(c.peers.others().map(({ id }) => id)).toEqual(['b']);
    expect(c.peers.furthest()).toBe(5);
  });

  it('hold back a new stream until they have folded what the furthest had, and not for ever', async () => {
    const { members, pass } = meeting('a', 'b');
    const [a, b] = members as [(typeof members)[0], (typeof members)[0]];
    a.mirror.fold(9);
    await pass(BEAT_MS);
    let isServed = false;
    void b.peers.caughtUp().then(() => {
      isServed = true;
    });
    await settle();
    expect(isServed).toBe(false);
    b.mirror.fold(9);
    await settle();
    expect([isServed, b.peers.behind]).toEqual([true, 0]);
    a.mirror.fold(10);
    await pass(BEAT_MS);
    const late = b.peers.caughtUp();
    await pass(CATCH_UP_MS_MAX);
    await late;
    expect(b.peers.behind).toBe(1);
    expect(b.said).toEqual(['a proxy is served from position 9, and another replica is at 10']);
  });

  it('compare the log with what they folded once another says another chain at a position', async () => {
    const { members, room } = meeting('a', 'b');
    const [a] = members as [(typeof members)[0]];
    a.mirror.fold(4);
    const odd = JSON.stringify({ id: 'x', position: 4, chain: 'another' });
    room.say(odd);
    room.say(odd);
    expect(a.mirror.checks).toBe(1);
    expect(a.said).toEqual(['replica x and this one folded different entries at position 4']);
  });

  it('do not follow how far a replica came whose log is lost, and pass over what is no beat', async () => {
    const { members, room } = meeting('a');
    const [a] = members as [(typeof members)[0]];
    room.say(JSON.stringify({ id: 'x', position: 99, chain: 'c', lost: 'rolled back' }));
    for (const text of ['', 'null', '{"id":7}', '{"id":"y","position":"1","chain":""}']) room.say(text);
    expect(a.peers.others().map(({ id }) => id)).toEqual(['x']);
    expect(a.peers.furthest()).toBe(0);
  });

  it('ask all others at once, and say which did not answer', async () => {
    const { members, pass, room } = meeting('a', 'b', 'c');
    for (const { id, channel } of members) channel.onQuestion(id, async question => `${question} ${id}`);
    await pass(BEAT_MS);
    room.silent.add('c');
    expect(await members[0]!.peers.ask('who are you,')).toEqual([
      { id: 'b', text: 'who are you, b' },
      { id: 'c', text: undefined },
    ]);
  });
});
