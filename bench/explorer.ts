// `periplus ui` over a million events of a mesh of 500 services: how soon the first view is answered, any moment, the
// graph of the mesh, and how long the loop of the serving process is busy at a time while the views are asked for at
// once. The first view by the clock from the program's start on, the least of several: other programs only add to it;
// the rest CPU time of all threads. The program is the built one (`npm run build`): tsx would translate each module
// anew for each thread, which takes longer than most answers. PERIPLUS_JOURNAL names a journal that is there already:
// making one takes minutes. test/long/explorer-million.test.ts sees the same in a browser.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { explorer } from '../src/admin/explorer/mount.ts';
import { serveHttp } from '../src/admin/http.ts';
import { ServedExplorer } from '../test/e2e/explorer/served-explorer.ts';
import { cpuMsOf } from '../test/long/explorer-cost.ts';
import { writeLongJournal } from './long-journal.ts';
import { type Figures, milliseconds } from './measure.ts';

const EVENTS = 1_000_000;
const SERVICES = 500;
const FIRST_VIEWS = 5;
/** Visits of moments that are far apart, after those that went before. */
const MOMENTS = 40;
/** A large odd number, to jump about. */
const STRIDE = 619_511;
/** The loop is looked at this often. */
const TICK_MS = 2;
/** No thread works for itself any more when all of them together use less than this part of the time. */
const IDLE_MS = 2_000;
const IDLE_SHARE = 1 / 10;
/** What the page asks at first: the second line once it has the answer to the first. */
const FIRST_VIEW = [['info'], ['density?by=time&buckets=260&split=kind', 'events?limit=200']];
/** The views of the page, and the largest answers that there are. */
const VIEWS = [
  ...FIRST_VIEW.flat(),
  'events?limit=1000',
  'mesh',
  'proxies',
  'proxy?proxy=svc-0-0.team-0',
  'proxy/raw?proxy=svc-0-0.team-0&type=CDS',
  'objects',
  'pushes',
];
/** A thread of its own: what reading the answers costs is none of the server's. Asks all at once. */
const ASKER = `
const { parentPort, workerData } = require('node:worker_threads');
const ask = async question => {
  const response = await fetch('http://127.0.0.1:' + workerData.port + '/api/v1/' + question);
  const bytes = (await response.arrayBuffer()).byteLength;
  if (response.status !== 200) throw new Error(question + ': ' + response.status);
  return bytes;
};
Promise.all(workerData.questions.map(ask)).then(bytes => parentPort.postMessage(bytes));`;

export async function explorerFigures(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const journal = process.env.PERIPLUS_JOURNAL ?? join(folder, 'journal.db');
    if (process.env.PERIPLUS_JOURNAL === undefined) await writeLongJournal(journal, EVENTS, SERVICES);
    const firstViews: number[] = [];
    for (let i = 0; i < FIRST_VIEWS; i++) firstViews.push(await firstViewMs(journal));
    return {
      'explorer: first view of a million events': milliseconds(Math.min(...firstViews)),
      ...(await asked(journal)),
      'explorer: longest turn of the serving loop, every view at once': milliseconds(await longestTurnOf(journal)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of a program that shows its first view and has its index. */
async function asked(journal: string): Promise<Figures> {
  const served = await ServedExplorer.open(journal);
  try {
    await firstView(served);
    await isIdle(served);
    const first = await cpuMsFor(served, `proxies?at=${EVENTS}`);
    const unprepared = await momentsMs(served, 0);
    await isIdle(served);
    const prepared = await momentsMs(served, MOMENTS);
    const mesh = await cpuMsFor(served, 'mesh');
    const again = await cpuMsFor(served, `mesh?at=${EVENTS - 1}`);
    const far = await cpuMsFor(served, `mesh?at=${Math.floor(EVENTS / 3)}`);
    return {
      'explorer: first moment of a million events': milliseconds(first),
      'explorer: some moment of a million at once, median': milliseconds(unprepared[MOMENTS / 2]!),
      'explorer: some moment of a million at once, longest': milliseconds(unprepared.at(-1)!),
      'explorer: some moment of a million, median': milliseconds(prepared[MOMENTS / 2]!),
      'explorer: some moment of a million, longest': milliseconds(prepared.at(-1)!),
      'explorer: graph of 500 services, the first': milliseconds(mesh),
      'explorer: graph of 500 services, an event before': milliseconds(again),
      'explorer: graph of 500 services, 667,000 events before': milliseconds(far),
    };
  } finally {
    await served.close();
  }
}

/** Ascending. `skipped`: moments of the sequence that were visited before. */
async function momentsMs(served: ServedExplorer, skipped: number): Promise<readonly number[]> {
  const visits: number[] = [];
  for (let i = 1 + skipped; i <= MOMENTS + skipped; i++)
    visits.push(await cpuMsFor(served, `proxies?at=${1 + ((i * STRIDE) % (EVENTS - 1))}`));
  return visits.sort((a, b) => a - b);
}

async function cpuMsFor(served: ServedExplorer, path: string): Promise<number> {
  const before = cpuMsOf(served.pid);
  await ask(served, path);
  return cpuMsOf(served.pid) - before;
}

async function ask({ address }: ServedExplorer, path: string): Promise<void> {
  const response = await fetch(new URL(`/api/v1/${path}`, address));
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${text}`);
}

/** The index is complete, and states are prepared: what the threads do by themselves is done. */
async function isIdle({ pid }: ServedExplorer): Promise<void> {
  for (;;) {
    const before = cpuMsOf(pid);
    await new Promise(resolve => setTimeout(resolve, IDLE_MS));
    if (cpuMsOf(pid) - before < IDLE_MS * IDLE_SHARE) return;
  }
}

async function firstView(served: ServedExplorer): Promise<void> {
  for (const together of FIRST_VIEW) await Promise.all(together.map(path => ask(served, path)));
}

/** From the start of the program on, with nothing known. */
async function firstViewMs(journal: string): Promise<number> {
  const start = performance.now();
  const served = await ServedExplorer.open(journal);
  try {
    await firstView(served);
    return performance.now() - start;
  } finally {
    await served.close();
  }
}

/** A server in this process, whose loop is looked at. */
async function longestTurnOf(journal: string): Promise<number> {
  const onError = (message: string): void => void process.stderr.write(`${message}\n`);
  const mount = explorer({ mode: 'file', journal, onError });
  const server = await serveHttp({ host: '127.0.0.1', port: 0 }, new Map(), onError, { mount });
  try {
    return await longestTurnMs(() => askedAtOnce(server.port, VIEWS));
  } finally {
    await server.close();
    await mount.close();
  }
}

async function askedAtOnce(port: number, questions: readonly string[]): Promise<void> {
  const asker = new Worker(ASKER, { eval: true, workerData: { port, questions } });
  await once(asker, 'message');
  await asker.terminate();
}

/** CPU time of this thread between two looks at the loop: the longest turn, and what else ran until the next look. */
async function longestTurnMs(work: () => Promise<void>): Promise<number> {
  let last = threadCpuMs();
  let longest = 0;
  const timer = setInterval(() => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, TICK_MS);
  await work();
  clearInterval(timer);
  return longest;
}

/** Of this thread, as Linux counts it. */
function threadCpuMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}
