// The Kubernetes adapter against an API server in memory: the rig of law 9, and everything that servers and networks do
// to a watch. What is held in the end must be what the server has; on the way nothing is deleted that was there all the
// time, and nothing is recorded twice.

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { KubeAdapter } from '../../src/adapters/kube/kube-adapter.ts';
import { customKinds } from '../../src/adapters/kube/resource.ts';
import type { Fact, RawObject } from '../../src/core/event.ts';
import {
  FoldingSink,
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
  unreadablePart,
} from '../../src/testing/adapter-rig.ts';
import { parameters } from '../property/seed.ts';
import { FakeApiServer } from './fake-api-server.ts';
import { drawsOf, seeds, VirtualTime } from './virtual-time.ts';

const SOURCE = 'kube/east';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const quiet = (): void => undefined;
const running: KubeAdapter[] = [];

afterEach(async () => {
  for (const adapter of running.splice(0)) await adapter.stop();
});

const service = (name: string, port: number): RawObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { ports: [{ name: 'http', port }] },
});
const route = (name: string, host: string): RawObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace: 'default' },
  spec: { hosts: [name], http: [{ route: [{ destination: { host } }] }] },
});

function kubeSource(cluster: string, status = 403): RigSource {
  const time = new VirtualTime();
  const server = new FakeApiServer(time);
  const objects = new Map<string, RawObject>();
  return {
    set: async (name, object) => {
      const known = objects.get(name);
      if (object !== undefined) {
        objects.set(name, object);
        server.set(object);
      } else if (known !== undefined) server.remove(known);
    },
    hide: async hidden => {
      if (hidden) server.refused.set('/api/v1/services', status);
      else server.refused.clear();
      server.drop('broken');
      if (hidden) server.compact();
    },
    pass: () => time.pass(MINUTE),
    open: () => new KubeAdapter({ cluster, api: server, chance: time, log: quiet }),
  };
}

describe('law 9: the Kubernetes adapter passes the rig', () => {
  it.each([false, true])(
    'records adds, updates and deletes while it watches (each event sent twice: %s)',
    async twice => {
      expect(await liveChanges(kubeSource('east'), SOURCE, twice)).toEqual([]);
    },
  );
  it('records the differences when it lists after a gap', async () => {
    expect(await relistAfterGap(kubeSource('east'), SOURCE)).toEqual([]);
  });
  it('records nothing for a list without differences', async () => {
    expect(await resync(kubeSource('east'), SOURCE)).toEqual([]);
  });
  it.each([403, 404, 500, 503])(
    'takes a source that cannot be read (status %s) for unknown, never for empty',
    async status => {
      expect(await unreadablePart(kubeSource('east', status), SOURCE)).toEqual([]);
    },
  );
  it('gives the same result in any order of sources', async () => {
    expect(await reorderedSources(kubeSource('east'), kubeSource('west'), [SOURCE, 'kube/west'])).toEqual([]);
  });
});

interface Watching {
  readonly time: VirtualTime;
  readonly server: FakeApiServer;
  readonly sink: FoldingSink;
  readonly adapter: KubeAdapter;
  readonly logged: readonly string[];
  /** name → as held, of kinds that the tests write. */
  held(): ReadonlyMap<string, string>;
  /** True as soon as exactly these objects are held. */
  settles(objects: readonly RawObject[], ms?: number): Promise<boolean>;
}

async function watching(
  options: { readonly seed?: number; readonly before?: readonly RawObject[] } = {},
): Promise<Watching> {
  const time = new VirtualTime(drawsOf(options.seed ?? 1));
  const server = new FakeApiServer(time);
  for (const object of options.before ?? []) server.set(object);
  const logged: string[] = [];
  const sink = new FoldingSink(SOURCE);
  const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
  const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log });
  running.push(adapter);
  adapter.start(sink).catch(quiet);
  await time.until(() => adapter.status().synced, HOUR);
  const held = (): ReadonlyMap<string, string> => {
    const records = [...sink.state.records.values()].map(({ raw, refused }) => refused?.raw ?? raw ?? {});
    return new Map(records.map(raw => [shown(raw), JSON.stringify(raw.spec)]));
  };
  const settles = (objects: readonly RawObject[], ms = HOUR): Promise<boolean> => {
    const wanted = new Map(objects.map(object => [shown(object), JSON.stringify(object.spec)]));
    const same = (): boolean => {
      const now = held();
      return now.size === wanted.size && [...wanted].every(([key, value]) => now.get(key) === value);
    };
    return time.until(same, ms);
  };
  return { time, server, sink, adapter, logged, held, settles };
}

function shown(raw: RawObject): string {
  return `${String(raw.kind)}/${String((raw.metadata as { readonly name?: string } | undefined)?.name)}`;
}

const kinds = (facts: readonly Fact[]): readonly string[] => facts.map(({ kind }) => kind);

describe('the Kubernetes adapter', () => {
  it('reports that it is synced once, after everything else', async () => {
    const { sink, settles } = await watching({ before: [service('a', 80), route('r', 'a')] });
    expect(await settles([service('a', 80), route('r', 'a')])).toBe(true);
    expect(kinds(sink.facts)).toEqual(['Add', 'Add', 'Synced']);
  });

  it('opens one watch for each kind', async () => {
    const { server } = await watching();
    const watches = server.requests.filter(text => text.includes('"watch":"true"')).map(text => text.split(' ')[0]);
    expect(new Set(watches).size).toBe(watches.length);
  });

  it('resumes from the last version after a broken connection, without a list and without a gap', async () => {
    const { server, settles, sink } = await watching({ before: [service('a', 80)] });
    server.drop('broken');
    server.set(service('b', 81));
    const before = server.requests.length;
    expect(await settles([service('a', 80), service('b', 81)])).toBe(true);
    expect(server.requests.slice(before).filter(text => !text.includes('"watch":"true"'))).toEqual([]);
    expect(kinds(sink.facts)).toEqual(['Add', 'Synced', 'Add']);
  });

  it('finds missed deletions and records only differences when its version is too old', async () => {
    const { server, settles, sink } = await watching({
      before: [service('a', 80), service('b', 81), service('c', 82)],
    });
    server.drop('broken');
    server.remove(service('b', 81));
    server.set(service('c', 83));
    server.compact();
    expect(await settles([service('a', 80), service('c', 83)])).toBe(true);
    expect([...kinds(sink.facts.slice(4))].sort()).toEqual(
      ['Delete', 'Update'].map(kind => (kind === 'Update' ? 'Add' : kind)).sort(),
    );
  });

  it('notices a dead watch, then a server without changes', async () => {
    const { server, settles, logged } = await watching({ before: [service('a', 80)] });
    server.silent = true;
    server.set(service('b', 81));
    expect(await settles([service('a', 80), service('b', 81)], 10 * 60_000)).toBe(true);
    expect(logged.some(text => text.includes('nothing new was heard'))).toBe(true);
  });

  it('notices a store that was restored to an earlier version', async () => {
    const { server, settles } = await watching({ before: [service('a', 80)] });
    server.set(service('a', 90));
    expect(await settles([service('a', 90)])).toBe(true);
    server.setBack(60);
    server.set(service('b', 81));
    expect(await settles([service('a', 90), service('b', 81)])).toBe(true);
  });

  it('records a repeated event once, and ignores a late one', async () => {
    const { server, settles, sink, time } = await watching();
    server.set(service('a', 80));
    server.set(service('a', 81));
    server.set(service('b', 82));
    server.remove(service('b', 82));
    expect(await settles([service('a', 81)])).toBe(true);
    const said = sink.facts.length;
    server.repeat();
    await time.pass(1_000);
    expect(sink.facts.slice(said)).toEqual([]);
  });

  it('lists in pages', async () => {
    const many = Array.from({ length: 1_203 }, (_, i) => service(`s${i}`, i + 1));
    const { settles, server } = await watching({ before: many });
    expect(await settles(many)).toBe(true);
    const pages = server.requests.filter(text => text.startsWith('/api/v1/services') && text.includes('"limit"'));
    expect(pages.length).toBe(3);
  });

  it('waits while the server is unreachable or overloaded', async () => {
    const time = new VirtualTime();
    const server = new FakeApiServer(time);
    server.down = true;
    const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: quiet });
    running.push(adapter);
    const sink = new FoldingSink(SOURCE);
    adapter.start(sink).catch(quiet);
    await time.pass(HOUR);
    expect(adapter.status()).toMatchObject({ synced: false, troubles: ['connection refused'] });
    // Doubling up to half a minute: an hour is some 160 attempts of ten requests, not thousands.
    expect(server.requests.length).toBeLessThan(3_000);
    server.down = false;
    server.failures.push(429, 503, 500, 403, 404);
    expect(await time.until(() => adapter.status().synced, HOUR)).toBe(true);
    expect(sink.facts.filter(({ kind }) => kind === 'Delete')).toEqual([]);
  });

  it.each(['before it is found', 'before it is listed'])(
    'can be stopped while the server is unreachable: %s',
    async when => {
      const time = new VirtualTime();
      const server = new FakeApiServer(time);
      server.down = when === 'before it is found';
      const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: quiet });
      const started = adapter.start(new FoldingSink(SOURCE)).then(
        () => 'started',
        (error: unknown) => String(error),
      );
      await time.until(() => server.requests.length > 20, HOUR);
      server.down = true;
      const stopped = adapter.stop();
      await time.pass(HOUR);
      await stopped;
      expect(await started).toMatch(
        when === 'before it is found' ? /stopped before everything was listed/ : /started|stopped/,
      );
    },
  );

  it('deletes nothing if the server denies access', async () => {
    const { server, sink, time } = await watching({ before: [service('a', 80)] });
    server.drop('broken');
    server.compact();
    server.failures.push(...Array.from({ length: 400 }, () => 403));
    await time.pass(HOUR);
    expect(kinds(sink.facts)).toEqual(['Add', 'Synced']);
  });
});

describe('a kind defined by a CRD', () => {
  const virtualService = customKinds.find(({ kind }) => kind === 'VirtualService')!;

  it('is no error while it is absent, and is watched once it is defined', async () => {
    const time = new VirtualTime();
    const server = new FakeApiServer(time, []);
    const adapter = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: quiet });
    running.push(adapter);
    const sink = new FoldingSink(SOURCE);
    adapter.start(sink).catch(quiet);
    expect(await time.until(() => adapter.status().synced, HOUR)).toBe(true);
    server.define(virtualService);
    server.set(route('r', 'a'));
    expect(await time.until(() => sink.state.objects.VirtualService.size === 1, HOUR)).toBe(true);
  });

  it('loses its objects with its definition, also if that was deleted unobserved', async () => {
    const { server, sink, time, adapter } = await watching({ before: [route('r', 'a'), service('a', 80)] });
    await adapter.stop();
    server.undefine(virtualService);
    const again = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: quiet });
    running.push(again);
    again.start(sink).catch(quiet);
    expect(await time.until(() => sink.state.objects.VirtualService.size === 0, HOUR)).toBe(true);
    expect(sink.state.objects.Service.size).toBe(1);
  });

  it('ends all watches when it is stopped while the sink refuses that a kind has gone', async () => {
    const { server, sink, time, adapter, logged } = await watching({ before: [route('r', 'a')] });
    sink.relistKinds = () => Promise.reject(new Error('another replica writes what the sources say'));
    server.undefine(virtualService);
    expect(await time.until(() => logged.some(line => line.includes('another replica writes')), HOUR)).toBe(true);
    await expect(adapter.stop()).resolves.toBeUndefined();
    const asked = server.requests.length;
    await time.pass(HOUR);
    expect(server.requests.length).toBe(asked);
  });

  it('counts as absent while its definition is ignored', async () => {
    const { server, sink, time, adapter } = await watching({ before: [route('r', 'a'), service('a', 80)] });
    await adapter.stop();
    const ignores = (name: string): boolean => name === 'virtualservices.networking.istio.io';
    const again = new KubeAdapter({ cluster: 'east', api: server, chance: time, log: quiet, ignores });
    running.push(again);
    again.start(sink).catch(quiet);
    expect(await time.until(() => sink.state.objects.VirtualService.size === 0, HOUR)).toBe(true);
    server.set(route('s', 'a'));
    await time.pass(60_000);
    expect([sink.state.objects.VirtualService.size, sink.state.objects.Service.size]).toEqual([0, 1]);
  });

  it('is watched in another version when one is no longer served', async () => {
    const { server, settles } = await watching({ before: [route('r', 'a')] });
    server.define(virtualService, ['v1beta1']);
    await settles([], 60_000);
    server.set({ ...route('s', 'b'), apiVersion: 'networking.istio.io/v1beta1' });
    expect(await settles([route('r', 'a'), route('s', 'b')])).toBe(true);
    expect(server.requests.at(-1)).not.toContain('/v1/');
  });
});

/** What happens, drawn from a seed; names of objects that were never removed are given back. */
async function live(seed: number, steps: number) {
  const draw = drawsOf(seed);
  const below = (n: number): number => Math.floor(draw() * n);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const now = new Map<string, RawObject>();
  const kept = new Set(['Service/a', 'VirtualService/a']);
  const before = [service('a', 1), route('a', 'x')];
  for (const object of before) now.set(shown(object), object);
  const watch = await watching({ seed, before });
  const { server, time } = watch;
  for (let i = 0; i < steps; i++) {
    const name = names[below(names.length)]!;
    const object = below(2) === 0 ? service(name, 1 + below(60_000)) : route(name, `h${below(100)}`);
    const known = now.get(shown(object));
    const what = below(16);
    if (what < 7 || kept.has(shown(object))) {
      server.set(object);
      now.set(shown(object), object);
    } else if (what < 10 && known !== undefined) {
      server.remove(known);
      now.delete(shown(object));
    } else if (what === 10) server.drop(below(2) === 0 ? 'ended' : 'broken');
    else if (what === 11) server.compact();
    else if (what === 12) server.repeat();
    else if (what === 13)
      server.failures.push(...Array.from({ length: below(8) }, () => [401, 403, 410, 429, 500, 504][below(6)]!));
    else if (what === 14) server.down = !server.down;
    else if (what === 15) server.silent = !server.silent;
    if (below(3) === 0) await time.pass(below(400_000));
  }
  server.down = false;
  server.silent = false;
  server.failures.length = 0;
  return { ...watch, now, kept };
}

describe('the adapter under faults of server and network', () => {
  it('ends with the objects of the server, and deletes none that always existed', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, async seed => {
        const { now, kept, settles, sink, time, adapter } = await live(seed, 40);
        expect(await settles([...now.values()])).toBe(true);
        const deleted = sink.facts.flatMap(fact =>
          fact.kind === 'Delete' ? [`${fact.ref.kind}/${fact.ref.name}`] : [],
        );
        expect(deleted.filter(name => kept.has(name))).toEqual([]);
        const said = sink.facts.length;
        await time.pass(15 * 60_000);
        expect(sink.facts.slice(said)).toEqual([]);
        await adapter.stop();
      }),
      parameters(12),
    );
  });

  it('canary: is noticed to differ if the server loses an event silently', async () => {
    const { now, server, settles } = await live(7, 20);
    expect(await settles([...now.values()])).toBe(true);
    server.setUnseen(service('lost', 1));
    expect(await settles([...now.values(), service('lost', 1)], 5_000)).toBe(false);
  });
});
