// The explorer over a million events of a mesh of 500 services, in a real Chromium: the first view is there while the
// index is still built, the ends and the middle of the journal open, and every moment is reached. Prints how long each
// took, by the clock of the page, and keeps screenshots; bench/explorer.ts measures the server alone. Needs dist/
// (`npm run build`).

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLongJournal } from '../../bench/long-journal.ts';
import { chromiumOrSkip, ExplorerPage, type Looks, launch } from '../e2e/explorer/browser.ts';
import { ServedExplorer } from '../e2e/explorer/served-explorer.ts';
import { until } from '../e2e/kube/until.ts';

const EVENTS = Number(process.env.PERIPLUS_EVENTS ?? 1_000_000);
const SERVICES = 500;
/** Moments visited in each view, far apart. */
const MOMENTS = 20;
const STRIDE = 619_511;
const INDEXED_MS_MAX = 600_000;
const LOOKS: readonly Looks[] = [
  { width: 1440, scheme: 'light' },
  { width: 390, scheme: 'dark' },
];
/** Counts from the beginning of the navigation to the first frame with rows and bars. */
const FIRST_VIEW = `(() => {
  const look = () => {
    const rows = document.querySelector('.event-row .seq')?.textContent;
    if (rows && document.querySelector('.strip canvas')) window.firstViewMs = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})()`;
const program = await chromiumOrSkip('the test of the explorer on a million events');

describe.runIf(program !== undefined)(`the explorer over ${EVENTS} events`, () => {
  let browser: Browser;
  let served: ServedExplorer;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-explorer-million-'));
    const journal = process.env.PERIPLUS_JOURNAL ?? join(folder, 'journal.db');
    if (process.env.PERIPLUS_JOURNAL === undefined) await writeLongJournal(journal, EVENTS, SERVICES);
    browser = await launch(program ?? '');
    served = await ServedExplorer.open(journal);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(LOOKS)('shows its first view while the index is built, on $width pixels', async looks => {
    const explorer = await ExplorerPage.open(browser, served.address, looks, '', FIRST_VIEW);
    const { page } = explorer;
    // The page's policy lets no text be run that is polled for in it.
    const firstViewMs = (): Promise<number> => page.evaluate<number>('window.firstViewMs ?? 0');
    await until('the first view', async () => (await firstViewMs()) > 0);
    print(`first view on ${looks.width} pixels`, [await firstViewMs()]);
    await explorer.screenshot('million-first');
    await until('the whole index', () => isIndexed(served.address), INDEXED_MS_MAX);
    await explorer.sees(`${EVENTS.toLocaleString('en')} events`);
    await explorer.settled();
    await explorer.screenshot('million-timeline');
    expect(await explorer.faultsOfLooks()).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });

  it.each(['timeline', 'proxy', 'object'])('reaches any moment in the view %s', async view => {
    const explorer = await ExplorerPage.open(browser, served.address, LOOKS[0]!, `#/${view}`);
    const taken: number[] = [];
    for (let i = 1; i <= MOMENTS; i++) {
      const at = 1 + ((i * STRIDE) % (EVENTS - 1));
      taken.push(await momentMs(explorer.page, view, at));
    }
    print(`a moment in the view ${view}`, taken);
    await explorer.screenshot(`million-${view}-moment`);
    expect(await explorer.closed()).toEqual([]);
  });

  it.each(LOOKS)('draws the mesh and says how far it is, on $width pixels', async looks => {
    const at = Math.floor(EVENTS / 3) + looks.width;
    const explorer = await ExplorerPage.open(browser, served.address, looks);
    const start = performance.now();
    await explorer.goTo(`#/mesh?at=${at}`);
    await explorer.page.locator('.mesh-drawing .node').first().waitFor();
    print(`the mesh on ${looks.width} pixels`, [performance.now() - start]);
    await explorer.screenshot('million-mesh');
    expect(await explorer.faultsOfLooks()).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });
});

async function isIndexed(address: string): Promise<boolean> {
  const info = await fetch(new URL('/api/v1/info', address));
  return ((await info.json()) as { readonly index: { readonly complete: boolean } }).index.complete;
}

/** From the change of the address until the view shows the moment. */
function momentMs(page: Page, view: string, at: number): Promise<number> {
  return page.evaluate<number>(`new Promise(resolve => {
    const start = performance.now();
    location.hash = '#/${view}?at=${at}';
    const isShown = () => ${
      view === 'timeline'
        ? `document.querySelector('.event-row[aria-selected=true] .seq')?.textContent === '${at}'`
        : `performance.getEntriesByType('resource').some(({ name, responseEnd }) =>
          name.includes('at=${at}') && responseEnd > 0) && document.querySelector('.busy, .stale') === null`
    };
    const look = () => isShown() ? resolve(performance.now() - start) : requestAnimationFrame(look);
    requestAnimationFrame(look);
  })`);
}

function print(what: string, taken: readonly number[]): void {
  const sorted = [...taken].sort((a, b) => a - b).map(Math.round);
  const [least, median, longest] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  process.stderr.write(`${what}: ${taken.length === 1 ? least : `${least}, ${median}, ${longest}`} ms\n`);
}
