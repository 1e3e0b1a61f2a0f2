// The explorer over a mesh of 500 services in a real Chromium: namespaces are folded, hundreds of problems are ranked
// and grouped, what is broken is seen folded and open, and no page is wider than its screen.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumOrSkip, ExplorerPage, type Looks, launch } from './explorer/browser.ts';
import { DEAD, writeLargeJournal } from './explorer/large-journal.ts';
import { ServedExplorer } from './explorer/served-explorer.ts';

const SERVICES = 500;
const NAMESPACES = 25;
const LOOKS: readonly Looks[] = [
  { width: 1440, scheme: 'dark' },
  { width: 390, scheme: 'light' },
];
const program = await chromiumOrSkip('the test of the explorer on a mesh of 500 services');

describe.runIf(program !== undefined)('the explorer over 500 services', () => {
  let browser: Browser;
  let served: ServedExplorer;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-explorer-large-'));
    const journal = join(folder, 'journal.db');
    await writeLargeJournal(journal, SERVICES);
    browser = await launch(program ?? '');
    served = await ServedExplorer.open(journal);
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(LOOKS)('folds namespaces and ranks problems, on $width pixels', async looks => {
    const explorer = await ExplorerPage.open(browser, served.address, looks, '#/mesh');
    const { page } = explorer;
    const folded = page.locator('.mesh-drawing .node.namespace');
    await folded.first().waitFor();
    expect(await folded.count()).toBeGreaterThanOrEqual(NAMESPACES);
    expect(await folded.count()).toBeLessThanOrEqual(2 * NAMESPACES);
    await page.locator('.mesh-drawing .node.namespace.bad').filter({ hasText: DEAD.namespace }).first().waitFor();
    const kinds = page.locator('.mesh-problems h3');
    expect((await kinds.allTextContents())[0]).toContain('Hosts that no workload reaches');
    expect(await kinds.count()).toBeGreaterThan(1);
    // Hundreds of problems, of which few are drawn until more are asked for.
    const listed = page.locator('.mesh-problems .problem');
    const before = await listed.count();
    expect(before).toBeLessThan(40);
    await page
      .getByRole('button', { name: /^Show 50 of \d+ more$/ })
      .first()
      .click();
    await expect.poll(() => listed.count()).toBe(before + 50);
    await explorer.screenshot('large-folded');
    expect(await explorer.faultsOfLooks()).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });

  it('opens the namespace in which a problem is, and shows its line', async () => {
    const explorer = await ExplorerPage.open(browser, served.address, LOOKS[0]!, '#/mesh');
    const { page } = explorer;
    // The worst problem: a host that no workload reaches, whose name has its namespace.
    const worst = page.locator('.mesh-problems .problem button').first();
    const namespace = /\.(team-[0-9]+)\./.exec((await worst.textContent()) ?? '')?.[1] ?? '';
    await worst.click();
    await page.getByRole('button', { name: namespace, exact: true, pressed: true }).waitFor();
    await page.locator('.mesh-drawing .node.chosen').first().waitFor();
    await explorer.settled();
    await explorer.screenshot('large-opened');
    expect(await explorer.faultsOfLooks()).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });
});
