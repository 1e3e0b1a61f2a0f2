// The limits of the explorer's server: whom they count against, and that a client's name moves none of them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUESTIONS_OF_CALLER_MAX } from '../../../../src/admin/explorer/asker.ts';
import { WATCHERS_OF_CALLER_MAX } from '../../../../src/admin/explorer/live-tail.ts';
import { type Reply, type Served, served } from './served.ts';

const MORE = 8;

describe('the limits of the explorer', () => {
  let explorer: Served;
  beforeAll(async () => {
    explorer = await served('subset-outage');
  });
  afterAll(() => explorer.close());

  const statuses = async (replies: readonly Promise<Reply>[]): Promise<readonly number[]> =>
    (await Promise.all(replies)).map(({ status }) => status);

  it('count the questions of an address together, whatever its clients call themselves', async () => {
    // One runs beside those that wait.
    const asked = Array.from({ length: QUESTIONS_OF_CALLER_MAX + 1 + MORE }, (_, i) =>
      explorer.ask(`/api/v1/mesh?at=${100 + i}`, { headers: { 'x-periplus-client': `page ${i}` } }),
    );
    const found = await statuses(asked);
    expect(found.filter(status => status === 503).length).toBeGreaterThanOrEqual(MORE);
    expect(found.filter(status => status === 200).length).toBeGreaterThanOrEqual(QUESTIONS_OF_CALLER_MAX);
  });

  it('count an identity that is proven by itself, so that no other caller is kept out or called off', async () => {
    const caller = (name: string) => ({ host: `${name}.proven.test`, 'x-periplus-client': 'the same word' });
    const own = explorer.ask('/api/v1/proxy/history?proxy=productpage&type=RDS&name=9080&from=1', {
      headers: caller('ada'),
    });
    const flood = Array.from({ length: QUESTIONS_OF_CALLER_MAX + 1 + MORE }, (_, i) =>
      explorer.ask(`/api/v1/proxy/history?proxy=productpage&type=RDS&name=9080&from=${10 + i}`, {
        headers: { ...caller('mallory'), 'x-periplus-client': `page ${i}` },
      }),
    );
    const same = explorer.ask('/api/v1/proxy/history?proxy=productpage&type=RDS&name=9080&from=2', {
      headers: caller('mallory'),
    });
    expect((await own).status).toBe(200);
    const later = await explorer.ask('/api/v1/proxy/history?proxy=productpage&type=RDS&name=9080&from=3', {
      headers: caller('ada'),
    });
    expect(later.status).toBe(200);
    expect(await statuses([...flood, same])).toContain(503);
  });

  it('let a question of the reader go before one that the page asks by itself, which is asked again', async () => {
    const order: string[] = [];
    const ask = async (path: string): Promise<number> => {
      const { status } = await explorer.ask(`/api/v1/${path}`);
      order.push(path);
      return status;
    };
    const background = ask('outages');
    const own = ask('proxy/history?proxy=productpage&type=RDS&name=9080&from=40');
    expect([await own, await background]).toEqual([200, 200]);
    expect(order.at(-1)).toBe('outages');
  });

  it('let one caller follow the journal with a part of the streams only', async () => {
    const stop = new AbortController();
    const streams = Array.from({ length: WATCHERS_OF_CALLER_MAX }, () =>
      explorer.follow('/api/v1/live', { host: 'mallory.proven.test' }, stop.signal),
    );
    expect(await Promise.all(streams)).toEqual(streams.map(() => 200));
    expect(await explorer.follow('/api/v1/live', { host: 'mallory.proven.test' }, stop.signal)).toBe(503);
    expect(await explorer.follow('/api/v1/live', { host: 'ada.proven.test' }, stop.signal)).toBe(200);
    stop.abort();
  });
});
