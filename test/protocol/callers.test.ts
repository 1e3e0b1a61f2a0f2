// Callers that come at once on a real connection: few are asked for proof in one tick, streams and unary calls alike.

import { Client, credentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { Engine } from '../../src/xds/engine/engine.ts';
import { adsService, CALLERS_PER_TICK, XdsServer } from '../../src/xds/grpc/server.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import { countLoopTurns } from '../unit/loop-turns.ts';
import { listen } from './listen.ts';
import { MemoryHost, testSources } from './memory-host.ts';
import { closing, until } from './server-rig.ts';

const CALLERS = 4 * CALLERS_PER_TICK;
const METHOD = '/test/Echo';
const same = (bytes: Buffer): Buffer => bytes;

/** `log`: each question for proof, and '-' for each turn of the event loop. */
async function served() {
  const log: string[] = [];
  const server = new XdsServer({
    host: new MemoryHost(),
    engine: new Engine(testSources),
    limits: defaultXdsLimits,
    schedule: defaultScheduleSettings,
    authenticate: async () => {
      log.push('asked');
      return { caller: undefined };
    },
    methods: {
      [METHOD]: async (_, request) => {
        log.push('asked');
        return request;
      },
    },
  });
  const port = await listen(server);
  closing.push(() => server.stop(500));
  const caller = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  closing.push(() => caller.close());
  const loop = countLoopTurns(() => log.push('-'));
  closing.push(() => loop.stop());
  const asked = (): readonly number[] =>
    log
      .join(' ')
      .split('-')
      .map(turn => turn.split(' ').filter(entry => entry === 'asked').length);
  const all = (): number => asked().reduce((sum, count) => sum + count);
  return { caller, asked, all };
}

describe('callers that come at once', () => {
  test('with streams are asked for proof in several ticks', async () => {
    const { caller, asked, all } = await served();
    const { path } = adsService.deltaAggregatedResources;
    for (let i = 0; i < CALLERS; i++) {
      const call = caller.makeBidiStreamRequest(path, same, same);
      call.on('error', () => undefined);
      closing.push(() => call.cancel());
    }
    await until(() => all() === CALLERS);
    expect(Math.max(...asked())).toBe(CALLERS_PER_TICK);
  });

  test('with unary calls are asked in several ticks, and all are answered', async () => {
    const { caller, asked, all } = await served();
    const answers = await Promise.all(
      Array.from(
        { length: CALLERS },
        (_, i) =>
          new Promise((resolve, reject) => {
            caller.makeUnaryRequest(METHOD, same, same, Buffer.of(i), (error, answer) =>
              error === null ? resolve(answer?.[0]) : reject(error),
            );
          }),
      ),
    );
    expect(answers).toEqual(Array.from({ length: CALLERS }, (_, i) => i));
    expect(all()).toBe(CALLERS);
    expect(Math.max(...asked())).toBe(CALLERS_PER_TICK);
  });
});
