import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Preparing, rehearsalsAt } from '../../../../src/admin/explorer/preparing.ts';
import type { Asked } from '../../../../src/admin/explorer/question.ts';
import { openReader, type Reader } from '../../../../src/admin/explorer/reader.ts';
import { stateQuestions } from '../../../../src/admin/explorer/state-questions.ts';
import { importJournal } from '../../../../src/journal/import.ts';
import { linesOf } from '../../../../src/journal/lines.ts';
import { openJournal } from '../../../../src/journal/open.ts';

const FIXTURE = join(import.meta.dirname, '../../../../journal/fixtures/subset-outage.jsonl');

describe('the thread of states, while nothing is asked', () => {
  let folder: string;
  let reader: Reader;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'periplus-preparing-'));
    const path = join(folder, 'journal.db');
    await importJournal(path, linesOf(createReadStream(FIXTURE, 'utf8')));
    reader = openReader(await openJournal(path, { readonly: true }), 'a journal', 'prepared');
  });
  afterEach(async () => {
    await reader.history.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Resolves when there is nothing left to do. */
  function prepared(questions: typeof stateQuestions): Promise<void> {
    return new Promise(resolve => {
      const work = async (slice: () => Promise<boolean>): Promise<void> => {
        while (await slice());
        resolve();
      };
      const spareTime = { work, answered: () => Promise.resolve() };
      new Preparing({ reader, questions, spareTime, isAlong: true }).ahead();
    });
  }

  it('makes what the first visit of a proxy needs, so that the visit generates nothing', async () => {
    await prepared(stateQuestions);
    const { history } = reader;
    const before = { ...history.tracker.stats };
    const [, query] = rehearsalsAt(await history.at(history.head().seq)).find(([path]) => path === '/proxy')!;
    const asked: Asked = {
      path: '/proxy',
      query: new URLSearchParams(query),
      body: '',
      viewer: 'all',
      progress: () => undefined,
    };
    await stateQuestions['/proxy']!(reader, asked);
    expect(before.generated).toBeGreaterThan(0);
    expect(history.tracker.stats.generated).toBe(before.generated);
  });

  it("asks each view's question once, and goes on after one that fails", async () => {
    const paths: string[] = [];
    const entries = Object.entries(stateQuestions).map(([path]) => [
      path,
      () => {
        paths.push(path);
        throw new Error('this question fails');
      },
    ]);
    await prepared(Object.fromEntries(entries));
    const proxy = [...Array.from({ length: 4 }, () => '/proxy/raw'), '/proxy'];
    expect(paths).toEqual(['/proxies', ...proxy, ...proxy, '/objects', '/object', '/event']);
  });

  it('asks about an object that routes, and about one proxy of each kind', async () => {
    const { history } = reader;
    const rehearsals = rehearsalsAt(await history.at(history.head().seq));
    expect(rehearsals.find(([path]) => path === '/object')?.[1].object).toMatch(/^VirtualService\//);
    const proxies = rehearsals.filter(([path]) => path === '/proxy').map(([, { proxy }]) => proxy);
    expect(new Set(proxies).size).toBe(proxies.length);
    expect(rehearsalsAt(await history.at(0))).toEqual([
      ['/proxies', { at: '0' }],
      ['/objects', { at: '0' }],
    ]);
  });
});
