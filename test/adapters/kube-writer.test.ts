// The writer of a cluster against an API server in memory: one replica writes every wish once, and stops writing when
// all are fulfilled, under conflicts, failures, lost leases and other writers.

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { seeds } from './virtual-time.ts';
import { configMap, LOCK_PATH, namespace, original, ownWrites, type Plane, plane, type Rig, rig } from './write-rig.ts';

const MINUTE = 60_000;
const COPY_A = '/api/v1/namespaces/a/configmaps/copy';
const running: Plane[] = [];

function start({ server, time }: Rig, identity = 'pod-1', isElectionEnabled = true): Plane {
  const started = plane(server, time, identity, isElectionEnabled);
  running.push(started);
  return started;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map(one => one.stop()));
});

const refusals = ({ state }: Plane): readonly string[] =>
  [...state().objects.WriteRefusal.values()].map(({ spec }) => (spec as { readonly target: string }).target);
const leads = ({ state }: Plane): boolean => state().objects.Leadership.size > 0;

describe('the writer', () => {
  it('creates what is wished in every namespace, once', async () => {
    const made = rig();
    start(made);
    const isDone = (): boolean => made.copies(['a', 'b']).join() === 'a=one,b=one';
    expect(await made.time.until(isDone, MINUTE)).toBe(true);
    await made.time.pass(10 * MINUTE);
    expect(ownWrites(made.server)).toHaveLength(2);
  });

  it('follows a wish that changes, and fills a namespace that is new', async () => {
    const made = rig();
    start(made);
    await made.time.pass(MINUTE);
    made.server.set(original('two'));
    made.server.set(namespace('c'));
    await made.time.pass(MINUTE);
    expect(made.copies(['a', 'b', 'c'])).toEqual(['a=two', 'b=two', 'c=two']);
  });

  it('keeps foreign keys and labels, and restores what was edited or deleted', async () => {
    const made = rig();
    made.server.set(configMap('a', 'copy', { text: 'old', theirs: 'kept' }, { theirs: 'kept' }));
    start(made);
    await made.time.pass(MINUTE);
    expect(made.server.object(COPY_A)).toMatchObject({
      data: { text: 'one', theirs: 'kept' },
      metadata: { labels: { theirs: 'kept' } },
    });
    expect((made.server.object(COPY_A).metadata as { labels: JsonObject }).labels.made).toBeUndefined();
    made.server.remove(configMap('a', 'copy', {}));
    await made.time.pass(MINUTE);
    expect(made.copies(['a'])).toEqual(['a=one']);
  });

  it('writes nothing after a restart when all is as wished', async () => {
    const made = rig();
    await made.time.pass(0);
    const first = plane(made.server, made.time, 'pod-1');
    await made.time.pass(MINUTE);
    const stopped = first.stop();
    await made.time.pass(MINUTE);
    await stopped;
    const before = ownWrites(made.server).length;
    start(made, 'pod-2');
    await made.time.pass(10 * MINUTE);
    expect(ownWrites(made.server)).toHaveLength(before);
  });

  it('waits for the newer version after a conflict, and then writes', async () => {
    const made = rig();
    made.server.writeFailures.push(409, 409, 409);
    start(made);
    const isDone = (): boolean => made.copies(['a', 'b']).join() === 'a=one,b=one';
    expect(await made.time.until(isDone, 2 * MINUTE)).toBe(true);
  });

  it.each([429, 500, 503])('tries again after %i, ever more slowly, and records nothing', async status => {
    const made = rig();
    made.server.refused.set('POST /api/v1/namespaces/a/configmaps', status);
    const one = start(made);
    await made.time.pass(5 * MINUTE);
    expect(one.writer.status().troubles).toHaveLength(1);
    expect(refusals(one)).toEqual([]);
    made.server.refused.clear();
    await made.time.pass(2 * MINUTE);
    expect(made.copies(['a', 'b'])).toEqual(['a=one', 'b=one']);
    expect(one.writer.status().troubles).toEqual([]);
  });

  it('records a refusal once, holds up no other target, and takes it back when the right is there', async () => {
    const made = rig();
    made.server.refused.set('POST /api/v1/namespaces/a/configmaps', 403);
    const one = start(made);
    await made.time.pass(10 * MINUTE);
    expect(refusals(one)).toEqual(['ConfigMap a/copy']);
    expect(made.copies(['a', 'b'])).toEqual(['b=one']);
    expect(one.logged.filter(line => line.includes('cannot be written'))).toHaveLength(1);
    made.server.refused.clear();
    await made.time.pass(2 * MINUTE);
    expect(refusals(one)).toEqual([]);
    expect(made.copies(['a', 'b'])).toEqual(['a=one', 'b=one']);
  });

  it('has one write of a target under way, also when its wish goes and comes back meanwhile', async () => {
    const made = rig();
    const { server, time } = made;
    let underWay = 0;
    let most = 0;
    const write = server.write.bind(server);
    server.write = async (request, limits) => {
      if (!request.path.includes('/a/')) return write(request, limits);
      most = Math.max(most, ++underWay);
      await new Promise<void>(resolve => void time.after(5_000, resolve));
      underWay--;
      return write(request, limits);
    };
    start(made);
    expect(await time.until(() => underWay > 0, MINUTE)).toBe(true);
    server.remove(original('one'));
    await time.pass(1_000);
    server.set(original('two'));
    expect(await time.until(() => made.copies(['a', 'b']).join() === 'a=two,b=two', MINUTE)).toBe(true);
    expect(most).toBe(1);
  });

  it('rests when another writer undoes its writes again and again', async () => {
    const made = rig();
    const one = start(made);
    await made.time.pass(MINUTE);
    for (let i = 0; i < 20; i++) {
      made.server.set(configMap('a', 'copy', { text: 'theirs' }));
      await made.time.pass(1_000);
    }
    const patches = ownWrites(made.server).filter(write => write.startsWith(`PATCH ${COPY_A}`));
    expect(patches.length).toBeLessThanOrEqual(6);
    expect(one.logged.some(line => line.includes('again and again'))).toBe(true);
  });
});

describe('of two replicas', () => {
  it('one writes, and the other takes over when it is gone', async () => {
    const made = rig();
    const first = plane(made.server, made.time, 'pod-1');
    await made.time.pass(MINUTE);
    const second = start(made, 'pod-2');
    await made.time.pass(MINUTE);
    expect([leads(first), leads(second)]).toEqual([true, false]);
    const stopped = first.stop();
    await made.time.until(() => leads(second), MINUTE);
    await stopped;
    made.server.set(original('two'));
    await made.time.pass(MINUTE);
    expect(made.copies(['a', 'b'])).toEqual(['a=two', 'b=two']);
  });

  it('the one that loses its lock writes no more', async () => {
    const made = rig();
    const one = start(made);
    await made.time.pass(MINUTE);
    // Requests for the lock fail; everything else works.
    made.server.refused.set(`PUT ${LOCK_PATH}`, 503);
    await made.time.pass(MINUTE);
    expect(leads(one)).toBe(false);
    const before = ownWrites(made.server).length;
    made.server.set(original('two'));
    await made.time.pass(MINUTE);
    expect(ownWrites(made.server)).toHaveLength(before);
    made.server.refused.clear();
    await made.time.pass(2 * MINUTE);
    expect(made.copies(['a', 'b'])).toEqual(['a=two', 'b=two']);
  });

  it('closes the fence by its own clock, before it has noticed that the lock is lost', async () => {
    const made = rig();
    const one = start(made);
    await made.time.pass(MINUTE);
    // The request for the lock hangs, as one does whose connection was cut.
    const get = made.server.get.bind(made.server);
    made.server.get = async (path, query, options) =>
      path === LOCK_PATH
        ? new Promise((_, reject) => options.signal.addEventListener('abort', () => reject(new Error('given up'))))
        : get(path, query, options);
    await made.time.pass(16_000);
    const before = ownWrites(made.server).length;
    made.server.set(original('two'));
    await made.time.pass(1_000);
    expect(ownWrites(made.server)).toHaveLength(before);
    expect(one.logged.some(line => line.includes('given up'))).toBe(true);
    made.server.get = get;
  });

  it('writes what came while a slow renewal had closed the fence', async () => {
    const made = rig();
    const { server, time } = made;
    start(made);
    await time.pass(MINUTE);
    const [get, write] = [server.get.bind(server), server.write.bind(server)];
    let isSlow = true;
    let renewals = 0;
    const late = async (): Promise<void> => {
      if (isSlow) await new Promise<void>(resolve => void time.after(2_500, resolve));
    };
    server.get = async (path, query, options) => {
      if (path === LOCK_PATH) await late();
      return get(path, query, options);
    };
    server.write = async (request, limits) => {
      if (request.path === LOCK_PATH) {
        renewals++;
        await late();
      }
      return write(request, limits);
    };
    // The third renewal was begun 12.5 s after the second, and is answered 17.5 s after it.
    expect(await time.until(() => renewals === 3, MINUTE)).toBe(true);
    await time.pass(1_000);
    const before = ownWrites(server).length;
    server.set(original('two'));
    await time.pass(1_000);
    expect(ownWrites(server)).toHaveLength(before);
    isSlow = false;
    await time.pass(MINUTE);
    expect(made.copies(['a', 'b'])).toEqual(['a=two', 'b=two']);
  });

  it('records that it leads no more when nothing is left to write', async () => {
    const made = rig();
    const one = start(made);
    expect(await made.time.until(() => leads(one), MINUTE)).toBe(true);
    made.server.remove(original('one'));
    expect(await made.time.until(() => !leads(one), MINUTE)).toBe(true);
    made.server.set(original('two'));
    expect(await made.time.until(() => made.copies(['a', 'b']).join() === 'a=two,b=two', MINUTE)).toBe(true);
    expect(leads(one)).toBe(true);
  });

  it('every one writes without elections', async () => {
    const made = rig();
    start(made, 'pod-1', false);
    await made.time.pass(MINUTE);
    expect(made.copies(['a', 'b'])).toEqual(['a=one', 'b=one']);
    expect(made.server.writes.some(write => write.includes('istio-namespace-controller-election'))).toBe(false);
  });
});

describe('in whatever order things happen', () => {
  const step = fc.constantFrom('text', 'namespace', 'edit', 'delete', 'conflict', 'error', 'drop', 'compact', 'wait');

  it('the result is what is wished, and a second look writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(seeds, fc.array(step, { maxLength: 12, size: 'max' }), async (seed, steps) => {
        const made = rig(seed);
        const { server, time } = made;
        const one = plane(server, time, 'pod-1');
        const names = ['a', 'b'];
        let text = 'one';
        for (const [i, what] of steps.entries()) {
          if (what === 'text') {
            text = `text-${i}`;
            server.set(original(text));
          }
          if (what === 'namespace') server.set(namespace(names[names.push(`n${i}`) - 1]!));
          if (what === 'edit') server.set(configMap('a', 'copy', { text: 'theirs', theirs: 'kept' }));
          if (what === 'delete') server.remove(configMap('b', 'copy', {}));
          if (what === 'conflict') server.writeFailures.push(409);
          if (what === 'error') server.writeFailures.push(503);
          if (what === 'drop') server.drop('broken');
          if (what === 'compact') server.compact();
          if (what === 'wait') await time.pass(20_000);
        }
        const wanted = names.map(name => `${name}=${text}`);
        const isDone = (): boolean => made.copies(names).join() === wanted.join();
        const came = await time.until(isDone, 20 * MINUTE);
        await time.pass(5 * MINUTE);
        const before = ownWrites(server).length;
        await time.pass(10 * MINUTE);
        const after = ownWrites(server).length;
        const stopped = one.stop();
        await time.pass(MINUTE);
        await stopped;
        expect([came, after - before]).toEqual([true, 0]);
      }),
      { numRuns: 12, seed: 17 },
    );
  });
});
