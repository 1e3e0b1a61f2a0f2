// Control planes that the mesh ConfigMap of the cluster names as sources, with several replicas: the leader asks them,
// and the others fold what it recorded.

import { describe, expect, it } from 'vitest';
import type { Adapter, Sink, SourceStatus } from '../../../src/adapters/adapter.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import type { Obj } from '../../../src/core/model/object.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { Replica } from '../../../src/replicas/replica.ts';
import { worldDigest } from '../../../src/replicas/world-digest.ts';
import { ConfigSourceSet } from '../../../src/runtime/config-source-set.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';
import { MemoryLog } from '../replicas/memory-log.ts';

const SOURCE = 'mcp/plane:15010';
const named: Unrecorded = {
  source: 'kube/Kubernetes',
  kind: 'MeshConfig',
  value: { configSources: [{ address: 'xds://plane:15010' }] },
};

function entry(host: string) {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name: 'remote', namespace: 'shop' },
    spec: { hosts: [host], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }], resolution: 'DNS' },
  };
}

/** Lists one ServiceEntry; `reader` is the replica whose adapter reads now. */
class Plane {
  host = 'first.example.com';
  readonly readers = new Set<string>();

  adapterFor(reader: string): Adapter {
    let isListed = false;
    const status = (): SourceStatus => ({ synced: isListed, waiting: [], troubles: [], unreadable: [] });
    return {
      source: SOURCE,
      start: async (sink: Sink): Promise<void> => {
        this.readers.add(reader);
        await sink.relist([{ kind: 'Add', object: entry(this.host) }], []);
        isListed = true;
      },
      stop: async () => void this.readers.delete(reader),
      status,
    };
  }
}

class Member {
  readonly clock = new FakeClock();
  readonly journal = openMemoryJournal({ clock: () => this.clock.now() });
  readonly world: World;
  readonly replica: Replica;
  readonly planes: ConfigSourceSet;

  constructor(id: string, log: MemoryLog, plane: Plane) {
    const { journal, clock } = this;
    const say = (): void => undefined;
    this.world = new World({ journal, state: emptyState, clock, strict: false, log: say });
    const { world } = this;
    this.replica = new Replica({
      ...{ id, log, lease: log, journal, world, clock, say },
      onLead: () => void this.planes.resume(),
      onFollow: () => void this.planes.pause(),
    });
    this.planes = new ConfigSourceSet({
      world: {
        get state() {
          return world.state;
        },
        listen: listener => world.listen(listener),
        recordNews: news => this.replica.recordNews(news),
      },
      known: [],
      open: () => plane.adapterFor(id),
      log: say,
      isPaused: true,
    });
  }

  /** Of the hosts that the remote control plane listed. */
  get hosts(): readonly unknown[] {
    const entries = [...this.world.state.objects.ServiceEntry.values()] as readonly Obj<'ServiceEntry'>[];
    return entries.flatMap(({ spec }) => spec.hosts);
  }
}

async function two() {
  const log = new MemoryLog();
  const plane = new Plane();
  const members = ['east', 'west'].map(id => new Member(id, log, plane)) as [Member, Member];
  for (const { replica } of members) {
    replica.start();
    await settle();
  }
  const [east, west] = members;
  await east.replica.recordNews(() => [named]);
  await settle();
  return { plane, east, west };
}

describe('a control plane that the mesh ConfigMap names', () => {
  it('is read by the leader alone, and every replica has what it lists and counts it as listed', async () => {
    const { plane, east, west } = await two();
    expect([...plane.readers]).toEqual(['east']);
    for (const { hosts, planes } of [east, west]) {
      expect(hosts).toEqual(['first.example.com']);
      expect(planes.isReady()).toBe(true);
      expect(planes.report()).toMatchObject([{ source: SOURCE, synced: true, troubles: [] }]);
    }
    expect(worldDigest(west.world.state)).toBe(worldDigest(east.world.state));
  });

  it('is read by the next leader, which records the differences once', async () => {
    const { plane, east, west } = await two();
    await east.replica.pause();
    await settle();
    plane.host = 'second.example.com';
    west.clock.next(west.clock.now() + 60_000);
    await settle();
    expect(west.replica.term).toBeDefined();
    expect([...plane.readers]).toEqual(['west']);
    for (const { hosts } of [east, west]) expect(hosts).toEqual(['second.example.com']);
    expect(worldDigest(west.world.state)).toBe(worldDigest(east.world.state));
    const kinds: string[] = [];
    for await (const page of east.journal.read({ from: 1 })) {
      kinds.push(...page.filter(({ source }) => source === SOURCE).map(({ kind }) => kind));
    }
    expect(kinds).toEqual(['Add', 'Synced', 'Add', 'Synced']);
  });

  it('that cannot be stopped is logged at the end of a term, and the next term reads it by a new adapter', async () => {
    const logged: string[] = [];
    const did: string[] = [];
    let made = 0;
    const open = (): Adapter => {
      const name = String(++made);
      return {
        source: SOURCE,
        start: async () => void did.push(`${name} starts`),
        stop: () => Promise.reject(new Error('stuck')),
        status: () => ({ synced: false, waiting: [], troubles: [], unreadable: [] }),
      };
    };
    const journal = openMemoryJournal({ clock: () => 0 });
    const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
    const world = new World({ journal, state: emptyState, clock: new FakeClock(), strict: false, log });
    await world.record([named]);
    const planes = new ConfigSourceSet({ world, known: [], open, log, isPaused: true });
    await planes.resume();
    await planes.pause();
    await planes.resume();
    // The adapter that was made while paused was never started.
    expect(did).toEqual(['2 starts', '3 starts']);
    expect(logged).toContain(`error: ${SOURCE}: Error: stuck`);
  });
});
