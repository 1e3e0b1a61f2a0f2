// The DNS adapter: which names it asks for, when again, what of the answers becomes a fact, and what stays when no
// server answers. Time is virtual, DNS is a table. How a question is put on the wire: dns-resolver.test.ts.

import { describe, expect, it } from 'vitest';
import { DnsAdapter } from '../../src/adapters/dns/dns-adapter.ts';
import { ASKED_AT_ONCE_MAX, NAMES_MAX, TTL_MS_MIN } from '../../src/adapters/dns/limits.ts';
import type { DnsAnswer } from '../../src/adapters/dns/resolver.ts';
import { RESOLVED_NAME_API } from '../../src/core/kinds/periplus/resolved-name.ts';
import { networkGateways } from '../../src/core/select/endpoint/network.ts';
import type { State } from '../../src/core/state.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';
import { ask, type Stepped, step, world } from '../unit/world.ts';
import { VirtualTime } from './virtual-time.ts';

const MINUTE = 60_000;
const SOURCE = 'dns/Kubernetes';

const gateways = (...names: readonly string[]) => ({
  networks: { far: { gateways: names.map(address => ({ address, port: 15443 })) } },
});
const settles = (state: State, ...names: readonly string[]): Stepped =>
  step(state, { kind: 'MeshNetworks', source: 'file/Kubernetes', value: gateways(...names) });
const addressesIn = (state: State): readonly string[] => ask(state, networkGateways, '').map(({ address }) => address);

/** An adapter over a state that changes by what it says, and by what the test does. */
class Scene {
  readonly time = new VirtualTime();
  /** What DNS says; what is not there cannot be reached. */
  readonly zone = new Map<string, DnsAnswer>();
  readonly asked: string[] = [];
  readonly logged: string[] = [];
  readonly sink: FoldingSink;
  readonly adapter: DnsAdapter;
  /** Questions under way, and the most there were. */
  open = 0;
  openMax = 0;

  constructor(state: State) {
    this.sink = new FoldingSink(SOURCE, { state });
    this.adapter = new DnsAdapter({
      cluster: 'Kubernetes',
      resolve: name => this.#resolve(name),
      after: (ms, run) => this.time.after(ms, run),
      now: () => this.time.now(),
      log: (level, message) => this.logged.push(`${level} ${message}`),
    });
    this.adapter.onState(state);
  }

  says(name: string, ...addresses: readonly string[]): void {
    this.zone.set(name, { addresses, ttlMs: MINUTE });
  }

  now(...names: readonly string[]): void {
    this.sink.state = settles(this.sink.state, ...names).state;
    this.adapter.onState(this.sink.state);
  }

  get addresses(): readonly string[] {
    return addressesIn(this.sink.state);
  }

  /** `Kind name addresses` of every fact said. */
  get said(): readonly string[] {
    return this.sink.facts.map(fact => {
      if (fact.kind === 'Delete') return `Delete ${fact.ref.name}`;
      if (fact.kind !== 'Update') return fact.kind;
      const { metadata, spec } = fact.object as never as {
        readonly metadata: { readonly name: string };
        readonly spec: { readonly addresses: readonly string[] };
      };
      return `${metadata.name} ${spec.addresses.join(' ')}`.trim();
    });
  }

  async pass(ms: number): Promise<void> {
    await this.time.until(() => false, ms);
  }

  async #resolve(name: string): Promise<DnsAnswer> {
    this.asked.push(name);
    this.openMax = Math.max(this.openMax, ++this.open);
    await new Promise<void>(resolve => setImmediate(resolve));
    this.open--;
    const answer = this.zone.get(name) ?? { failed: 'ETIMEOUT' };
    if ('failed' in answer && answer.failed === 'thrown') throw new Error('no resolver');
    return answer;
  }
}

async function started(state: State, zone: Readonly<Record<string, readonly string[]>> = {}): Promise<Scene> {
  const scene = new Scene(state);
  for (const [name, addresses] of Object.entries(zone)) scene.says(name, ...addresses);
  await scene.adapter.start(scene.sink);
  return scene;
}

const one = world([], { networks: gateways('gate.example.com') });

describe('the DNS adapter at its start', () => {
  it('resolves and records nothing while no gateway has a name', async () => {
    const scene = await started(world([], { networks: gateways('192.0.2.1') }));
    expect([scene.asked, scene.said, scene.adapter.status().synced]).toEqual([[], [], true]);
  });
  it('resolves every name once, so that the gateways have addresses', async () => {
    const scene = await started(one, { 'gate.example.com': ['192.0.2.1', '2001:db8::1'] });
    expect(scene.said).toEqual(['gate.example.com 192.0.2.1 2001:db8::1', 'Synced']);
    expect(scene.addresses).toEqual(['192.0.2.1', '2001:db8::1']);
  });
  it('keeps the recorded addresses while no server answers, and deletes those of unused names', async () => {
    const known = await started(world([], { networks: gateways('a.example.com', 'b.example.com') }), {
      'a.example.com': ['192.0.2.1'],
      'b.example.com': ['192.0.2.2'],
    });
    const scene = await started(settles(known.sink.state, 'a.example.com').state);
    expect(scene.said).toEqual(['Delete b.example.com', 'Synced']);
    expect(scene.addresses).toEqual(['192.0.2.1']);
    expect(scene.adapter.status().troubles).toEqual([
      'a.example.com could not be resolved (ETIMEOUT); what was last said of it stays',
    ]);
  });
  it('refuses to start once it is stopped', async () => {
    const scene = new Scene(one);
    await scene.adapter.stop();
    await expect(scene.adapter.start(scene.sink)).rejects.toThrow(/stopped/);
  });
});

describe('the running DNS adapter', () => {
  it('resolves a name again after its lifetime, and records only differences', async () => {
    const scene = await started(one, { 'gate.example.com': ['192.0.2.1'] });
    await scene.pass(3 * MINUTE);
    expect(scene.asked).toHaveLength(4);
    expect(scene.said).toHaveLength(2);
    scene.says('gate.example.com', '192.0.2.2');
    await scene.pass(MINUTE);
    expect(scene.addresses).toEqual(['192.0.2.2']);
    scene.says('gate.example.com');
    await scene.pass(MINUTE);
    expect(scene.addresses).toEqual([]);
    expect(scene.said.slice(2)).toEqual(['gate.example.com 192.0.2.2', 'gate.example.com']);
  });
  it('keeps the addresses after a failure, reports it once, and retries soon', async () => {
    const scene = await started(one, { 'gate.example.com': ['192.0.2.1'] });
    scene.zone.clear();
    await scene.pass(MINUTE + 3 * TTL_MS_MIN);
    expect(scene.asked).toHaveLength(5);
    expect(scene.addresses).toEqual(['192.0.2.1']);
    scene.says('gate.example.com', '192.0.2.1');
    await scene.pass(TTL_MS_MIN);
    expect(scene.logged).toEqual([
      'warn gate.example.com could not be resolved (ETIMEOUT); what was last said of it stays',
      'info gate.example.com can be resolved again',
    ]);
    expect(scene.adapter.status().troubles).toEqual([]);
  });
  it('treats a resolver that throws as a failure', async () => {
    const scene = await started(one, { 'gate.example.com': ['192.0.2.1'] });
    scene.zone.set('gate.example.com', { failed: 'thrown' });
    await scene.pass(2 * MINUTE);
    expect(scene.addresses).toEqual(['192.0.2.1']);
    expect(scene.logged).toEqual([
      'warn gate.example.com could not be resolved (no resolver); what was last said of it stays',
    ]);
  });
  it('follows the names in the state', async () => {
    const scene = await started(world([]));
    scene.says('a.example.com', '192.0.2.1');
    scene.now('A.Example.com', '192.0.2.9');
    await scene.pass(1);
    expect(scene.addresses).toEqual(['192.0.2.1', '192.0.2.9']);
    scene.now();
    await scene.pass(10 * MINUTE);
    expect(scene.said).toEqual(['a.example.com 192.0.2.1', 'Delete a.example.com']);
    expect(scene.asked).toEqual(['a.example.com']);
  });
  it('drops an answer for a name that is no longer used', async () => {
    const scene = await started(world([]));
    scene.says('a.example.com', '192.0.2.1');
    scene.now('a.example.com');
    scene.now();
    await scene.pass(10 * MINUTE);
    expect(scene.said).toEqual([]);
  });
  it('stops when its flag is switched off', async () => {
    const env = { RESOLVE_HOSTNAME_GATEWAYS: 'false' };
    const scene = await started(world([], { networks: gateways('gate.example.com'), settings: { env } }));
    expect([scene.asked, scene.addresses]).toEqual([[], []]);
  });
  it('resolves nothing once it is stopped', async () => {
    const scene = await started(one, { 'gate.example.com': ['192.0.2.1'] });
    await scene.adapter.stop();
    await scene.pass(10 * MINUTE);
    expect(scene.asked).toHaveLength(1);
  });
});

describe('limits of the DNS adapter', () => {
  it('bound the names, and the lookups at one time', async () => {
    const names = Array.from({ length: NAMES_MAX + 1 }, (_, i) => `n${String(i).padStart(4, '0')}.example.com`);
    const scene = await started(world([], { networks: gateways(...names) }));
    expect(scene.asked).toEqual(names.slice(0, NAMES_MAX));
    expect(scene.openMax).toBe(ASKED_AT_ONCE_MAX);
    expect(scene.logged[0]).toBe(`warn ${NAMES_MAX + 1} names would have to be resolved; the first ${NAMES_MAX} are`);
  });
});

describe('an answer in a file', () => {
  it('needs no DNS', () => {
    const answer = {
      apiVersion: RESOLVED_NAME_API,
      kind: 'ResolvedName',
      metadata: { name: 'gate.example.com' },
      spec: { addresses: ['192.0.2.7', 'nonsense'] },
    };
    const { state, push } = step(one, { kind: 'Add', source: 'file/Kubernetes', object: answer });
    expect(addressesIn(state)).toEqual(['192.0.2.7']);
    expect([push.full, push.forced, Object.keys(push.reasons)]).toEqual([true, true, ['networks']]);
  });
});
