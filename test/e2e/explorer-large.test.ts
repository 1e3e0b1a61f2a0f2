// The explorer over a mesh of 500 services in a real Chromium: namespaces are folded, what is broken is seen folded and
// open, and the page stays usable.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumOrSkip, ExplorerPage, launch } from './explorer/browser.ts';
import { BROKEN, writeLargeJournal } from './explorer/large-journal.ts';
import { ServedExplorer } from './explorer/served-explorer.ts';

const SERVICES = 500;
const NAMESPACES = 25;
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

  it('folds the namespaces, shows which of them has a problem, and opens it where it is', async () => {
    const explorer = await ExplorerPage.open(browser, served.address, { width: 1440, scheme: 'dark' }, '#/mesh');
    const { page } = explorer;
    const folded = page.locator('.mesh-drawing .node.namespace');
    await folded.first().waitFor();
    expect(await folded.count()).toBeGreaterThanOrEqual(NAMESPACES);
    expect(await folded.count()).toBeLessThanOrEqual(2 * NAMESPACES);
    await page.locator('.mesh-drawing .node.namespace.bad').filter({ hasText: BROKEN.namespace }).first().waitFor();
    await explorer.screenshot('large-folded');
    await page
      .getByRole('button', { name: `${BROKEN.subset}|${BROKEN.host}` })
      .first()
      .click();
    await page.getByRole('button', { name: BROKEN.namespace, exact: true, pressed: true }).waitFor();
    await page.locator('.mesh-drawing .edge.bad').first().waitFor({ state: 'attached' });
    await explorer.settled();
    await explorer.screenshot('large-opened');
    expect(await page.locator('.mesh-drawing .node').count()).toBeLessThan(4 * NAMESPACES);
    expect(await explorer.closed()).toEqual([]);
  });
});
