// Answers with progress, as the page reads them: a stream for what takes long, JSON with its status for the rest.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { answeredWithProgress } from '../../../../src/admin/explorer/answering.ts';
import type { ThreadAnswer } from '../../../../src/admin/explorer/asker.ts';
import { eventsOf } from '../../../../ui/client/event-stream.ts';

const NEVER_MS = 600_000;
/** More than is written at once, with a character whose bytes may lie in two parts. */
const LARGE = 'é'.repeat(400_000);

describe('an answer with progress', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function asked(
    answer: unknown,
    { status = 200, delayMs = 0, saysFirst = true }: { status?: number; delayMs?: number; saysFirst?: boolean },
  ): Promise<Response> {
    const body = new TextEncoder().encode(JSON.stringify(answer));
    server = createServer((_, response) => {
      const ask = async (onProgress: (done: number, of: number) => void): Promise<ThreadAnswer> => {
        if (!saysFirst) return { status, body };
        onProgress(1, 4);
        // The stream begins by itself: only its headers end the wait.
        while (!response.headersSent) await new Promise(resolve => setImmediate(resolve));
        onProgress(3, 4);
        return { status, body };
      };
      void answeredWithProgress(response, ask, delayMs);
    });
    await new Promise<void>(resolve => server?.listen(0, '127.0.0.1', resolve));
    return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  async function eventsIn(response: Response): Promise<readonly (readonly [event: string, data: unknown])[]> {
    const found: (readonly [string, unknown])[] = [];
    for await (const { event, data } of eventsOf(response)) found.push([event, JSON.parse(data)]);
    return found;
  }

  it('is a stream at once where only that is taken, and says how far it is', async () => {
    const response = await asked({ large: LARGE }, {});
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(await eventsIn(response)).toEqual([
      ['progress', { done: 0, of: 0 }],
      ['progress', { done: 1, of: 4 }],
      ['progress', { done: 3, of: 4 }],
      ['answer', { large: LARGE }],
    ]);
  });

  it('becomes a stream when it takes longer, with what was said before', async () => {
    expect(await eventsIn(await asked({ a: 1 }, { delayMs: 1 }))).toEqual([
      ['progress', { done: 1, of: 4 }],
      ['progress', { done: 3, of: 4 }],
      ['answer', { a: 1 }],
    ]);
  });

  it('is JSON with its status when it comes soon', async () => {
    const response = await asked({ error: 'no such proxy' }, { status: 404, delayMs: NEVER_MS, saysFirst: false });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json']);
    expect(await response.json()).toEqual({ error: 'no such proxy' });
  });

  it('ends with a fault when there is none', async () => {
    const events = await eventsIn(await asked({ error: 'no such proxy' }, { status: 404, delayMs: 1 }));
    expect(events.at(-1)).toEqual(['fault', { error: 'no such proxy' }]);
  });
});
