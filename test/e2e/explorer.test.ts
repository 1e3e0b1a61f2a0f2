// The explorer in a real Chromium: recorded samples and a running `npm start`, on a wide and a narrow screen, dark and
// light. Screenshots are kept in the system's temporary folder (PERIPLUS_SCREENSHOTS), for people to look at.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envoyOrSkip } from './bookinfo.ts';
import { chromiumOrSkip, ExplorerPage, type Looks, launch } from './explorer/browser.ts';
import { ServedExplorer } from './explorer/served-explorer.ts';
import { OUTAGE_VIEWS } from './explorer/views.ts';

const ROOT = join(import.meta.dirname, '../..');
const program = await chromiumOrSkip('the tests of the explorer in a browser');
const envoy = await envoyOrSkip('the test of the explorer on a running mesh');
const WIDE: Looks = { width: 1440, scheme: 'light' };
const LOOKS: readonly Looks[] = [WIDE, { width: 1440, scheme: 'dark' }, { width: 390, scheme: 'dark' }];

const sample = (name: string): string => join(ROOT, `journal/fixtures/${name}.jsonl`);

describe.runIf(program !== undefined)('the explorer in a browser', () => {
  let browser: Browser;
  let outage: ServedExplorer;
  beforeAll(async () => {
    browser = await launch(program ?? '');
    outage = await ServedExplorer.open(sample('subset-outage'));
  });
  afterAll(async () => {
    await browser?.close();
    await outage?.close();
  });

  it.each(LOOKS)('shows every view on $width pixels in $scheme colours, readable and without a fault', async looks => {
    const explorer = await ExplorerPage.open(browser, outage.address, looks);
    const faults: string[] = [];
    for (const [name, hash, text] of OUTAGE_VIEWS) {
      await explorer.goTo(hash);
      await explorer.sees(text);
      await explorer.settled();
      faults.push(...(await explorer.faultsOfLooks()).map(fault => `${name}: ${fault}`));
      await explorer.screenshot(name);
    }
    expect(faults).toEqual([]);
    expect(await explorer.closed()).toEqual([]);
  });

  it('finds the cause of the outage in the five clicks of the guide', async () => {
    const guide = await readFile(join(ROOT, 'docs/guides/explorer.md'), 'utf8');
    const steps = [...guide.matchAll(/^\d\. Click \*\*(.+?)\*\*([\s\S]*?)(?=\n\d\. |\n\n)/gm)];
    expect(steps).toHaveLength(5);
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE);
    for (const [i, [, what = '', text = '']] of steps.entries()) {
      const named = explorer.page
        .getByRole('link', { name: what })
        .or(explorer.page.getByRole('button', { name: what }));
      await named.first().click();
      for (const [, shown = ''] of text.matchAll(/`([^`]+)`/g)) await explorer.sees(shown);
      await explorer.settled();
      await explorer.screenshot(`tour-${i + 1}`);
    }
    expect(await explorer.closed()).toEqual([]);
  });

  it.each(['annotation-storm', 'bookinfo-day'])('opens the recorded sample %s', async name => {
    const served = await ServedExplorer.open(sample(name));
    try {
      const explorer = await ExplorerPage.open(browser, served.address, { width: 1440, scheme: 'dark' });
      for (const view of ['timeline', 'mesh', 'proxy', 'object', 'push']) {
        await explorer.goTo(`#/${view}`);
        expect(await explorer.faultsOfLooks()).toEqual([]);
        await explorer.screenshot(`${name}-${view}`);
      }
      expect(await explorer.closed()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it('is used by keys alone, and a copied address reopens the view', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE);
    const { page } = explorer;
    await page.keyboard.press('/');
    await page.keyboard.type('reviews helm');
    await page.getByText('3 of 163 events').waitFor();
    const list = page.getByRole('listbox', { name: 'Events' });
    await list.focus();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 'Update #112' }).waitFor();
    await page.keyboard.press('+');
    await page.getByRole('button', { name: 'Whole journal' }).waitFor();
    await page.keyboard.press('3');
    await page.getByText('3 proxies connected').waitFor();
    await page.keyboard.press('1');
    await page.getByText('163 events').waitFor();
    const address = new URL(page.url()).hash;
    expect(address).toContain('at=112');
    const copied = await ExplorerPage.open(browser, outage.address, WIDE, address);
    await copied.page.getByText('#112').first().waitFor();
    await copied.page.getByRole('button', { name: 'Whole journal' }).waitFor();
    expect([...(await copied.closed()), ...(await explorer.closed())]).toEqual([]);
  });

  it('takes a moment by a click on the strip and a range by a drag', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE);
    const { page } = explorer;
    const area = page.locator('.strip-area');
    const box = (await area.boundingBox()) ?? { x: 0, y: 0, width: 1, height: 1 };
    const [middle, left] = [box.x + box.width / 2, box.x + box.width / 5];
    await page.mouse.click(middle, box.y + 20);
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    expect(page.url()).toMatch(/at=\d+/);
    await page.mouse.move(left, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(middle, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'No comparison' }).waitFor();
    expect(page.url()).toMatch(/from=\d+/);
    await page.mouse.move(middle, box.y + 20);
    await page.mouse.wheel(0, -400);
    await page.getByRole('button', { name: 'Whole journal' }).waitFor();
    expect(await explorer.closed()).toEqual([]);
  });

  it.runIf(envoy !== undefined)('follows a running `npm start` while its weights change', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'periplus-explorer-demo-'));
    const demo = await ServedExplorer.run(
      ['demo', '--folder', folder],
      /explorer +(http:\S+\/ui\/)[\s\S]+Ctrl-C stops/,
    );
    try {
      const explorer = await ExplorerPage.open(browser, demo.address, WIDE, '#/proxy');
      const { page } = explorer;
      await page
        .getByRole('link', { name: /^productpage/ })
        .first()
        .click();
      const all = page.locator('.leads', { hasText: '100 %' });
      await all.filter({ hasText: 'v1' }).first().waitFor();
      const file = join(folder, 'bookinfo/config/reviews.yaml');
      const text = await readFile(file, 'utf8');
      const swapped = text.replace('weight: 100', 'weight: X').replace('weight: 0', 'weight: 100');
      await writeFile(file, swapped.replace('weight: X', 'weight: 0'));
      await all.filter({ hasText: 'v3' }).first().waitFor();
      await explorer.screenshot('live-routes');
      await explorer.goTo('#/timeline?q=VirtualService');
      const newest = page.getByRole('option').filter({ hasText: 'Update' }).filter({ hasText: 'reviews' });
      await newest.first().waitFor();
      await explorer.screenshot('live-timeline');
      // How the change reached both Envoys, as a chart.
      await newest.first().click();
      await page.getByRole('link', { name: 'How it reached them' }).click();
      await explorer.sees(/^[12] of 2 connected proxies were sent something/);
      await page.locator('figure .uplot canvas').waitFor();
      await explorer.screenshot('live-convergence');
      // What both Envoys refuse, in their words, on a list that was open before.
      await explorer.goTo('#/push');
      await writeFile(join(folder, 'bookinfo/config/refused.yaml'), REFUSED);
      const refused = page.locator('.push-row').filter({ hasText: '✕' }).first();
      await refused.waitFor();
      await explorer.screenshot('live-refused-list');
      await refused.click();
      await explorer.sees(/MaxEjectionPercent/);
      await explorer.screenshot('live-refused');
      await page.getByRole('link', { name: 'Refused' }).first().click();
      await explorer.sees('EnvoyFilter default/refused');
      await explorer.screenshot('live-refusal');
      await page.getByRole('button', { name: 'Live' }).click();
      await page.getByRole('button', { name: 'Paused' }).waitFor();
      expect(await explorer.closed()).toEqual([]);
    } finally {
      await demo.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Envoy takes no more than 100 %. */
const REFUSED = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: refused, namespace: default}
spec:
  configPatches:
    - applyTo: CLUSTER
      match: {cluster: {service: reviews.default.svc.cluster.local}}
      patch: {operation: MERGE, value: {outlier_detection: {max_ejection_percent: 500}}}
`;
