// The explorer over a million events of a mesh of 500 services, in a real Chromium: the first view is there while the
// index is still built, every moment is reached, the mesh is drawn. Prints what each costs and keeps screenshots;
// bench/explorer.ts measures the server alone. Needs dist/ (`npm run build`).

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeLongJournal } from '../../bench/long-journal.ts';
import { chromiumOrSkip, ExplorerPage, type Looks, launch } from '../e2e/explorer/browser.ts';
import { ServedExplorer } from '../e2e/explorer/served-explorer.ts';
import { until } from '../e2e/kube/until.ts';
import { type Cost, CostMeter, printCosts } from './explorer-cost.ts';

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
    const explorer = await ExplorerPage.open(browser, 'about:blank', looks);
    const { page } = explorer;
    const meter = await CostMeter.of(page, served.pid);
    const rows = page.locator('.event-row .seq').first();
    const first = await meter.costOf(async () => {
      await page.goto(served.address);
      await rows.waitFor();
      await page.locator('.strip canvas').first().waitFor();
    });
    printCosts(`first view on ${looks.width} pixels`, [first]);
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
    const meter = await CostMeter.of(explorer.page, served.pid);
    const costs: Cost[] = [];
    for (let i = 1; i <= MOMENTS; i++) {
      const at = 1 + ((i * STRIDE) % (EVENTS - 1));
      costs.push(await meter.costOf(() => reached(explorer.page, view, at)));
    }
    printCosts(`a moment in the view ${view}`, costs);
    await explorer.screenshot(`million-${view}-moment`);
    expect(await explorer.closed()).toEqual([]);
  });

  it.each(LOOKS)('draws the mesh and says how far it is, on $width pixels', async looks => {
    const at = Math.floor(EVENTS / 3) + looks.width;
    const explorer = await ExplorerPage.open(browser, served.address, looks);
    const meter = await CostMeter.of(explorer.page, served.pid);
    const cost = await meter.costOf(async () => {
      await explorer.goTo(`#/mesh?at=${at}`);
      await explorer.page.locator('.mesh-drawing .node').first().waitFor();
    });
    printCosts(`the mesh on ${looks.width} pixels`, [cost]);
    await explorer.screenshot('million-mesh');
    expect(await explorer.faultsOfLooks()).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });
});

async function isIndexed(address: string): Promise<boolean> {
  const info = await fetch(new URL('/api/v1/info', address));
  return ((await info.json()) as { readonly index: { readonly complete: boolean } }).index.complete;
}

/** Changes the address; resolves when the view shows the moment. */
function reached(page: Page, view: string, at: number): Promise<void> {
  return page.evaluate<void>(`new Promise(resolve => {
    location.hash = '#/${view}?at=${at}';
    const isShown = () => ${
      view === 'timeline'
        ? `document.querySelector('.event-row[aria-selected=true] .seq')?.textContent === '${at}'`
        : `performance.getEntriesByType('resource').some(({ name, responseEnd }) =>
          name.includes('at=${at}') && responseEnd > 0) && document.querySelector('.busy, .stale') === null`
    };
    const look = () => isShown() ? resolve() : requestAnimationFrame(look);
    requestAnimationFrame(look);
  })`);
}
