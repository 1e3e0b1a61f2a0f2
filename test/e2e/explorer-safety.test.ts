// What the explorer's page promises of any journal: texts of others stay texts, a copied address reopens the view for
// a colleague with the redacted journal, every view prints whole, and keys reach everything. In a real Chromium. And
// that a control plane can be run without it.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumOrSkip, ExplorerPage, type Looks, launch, SCREENSHOTS } from './explorer/browser.ts';
import { hostile, writeHostileJournal } from './explorer/hostile-journal.ts';
import { CUT_SCRIPT, FOCUS_SCRIPT } from './explorer/page-checks.ts';
import { CLI, ServedExplorer } from './explorer/served-explorer.ts';
import { OUTAGE_VIEWS } from './explorer/views.ts';
import { freePorts } from './free-port.ts';

const ROOT = join(import.meta.dirname, '../..');
const OUTAGE = join(ROOT, 'journal/fixtures/subset-outage.jsonl');
const program = await chromiumOrSkip("the tests of the explorer's promises");
const LONG = { timeout: 60_000, interval: 250 };
const WIDE: Looks = { width: 1440, scheme: 'light' };

describe.runIf(program !== undefined)("the explorer's page", () => {
  let browser: Browser;
  let outage: ServedExplorer;
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-explorer-safety-'));
    browser = await launch(program ?? '');
    outage = await ServedExplorer.open(OUTAGE);
  });
  afterAll(async () => {
    await browser?.close();
    await outage?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows names, annotations and words of Envoy as text, whatever markup they are', async () => {
    const path = join(folder, 'hostile.db');
    await writeHostileJournal(path);
    const served = await ServedExplorer.open(path);
    try {
      const explorer = await ExplorerPage.open(browser, served.address, WIDE);
      const { page } = explorer;
      for (const [hash, where] of HOSTILE_VIEWS) {
        await explorer.goTo(hash);
        if (where !== '') await explorer.sees(`onerror="window.struck='${where}'"`);
        expect([hash, await page.evaluate('window.struck')]).toEqual([hash, undefined]);
        expect([hash, await page.locator('img, .app script').count()]).toEqual([hash, 0]);
        await explorer.screenshot(`hostile-${hash.replaceAll(/\W+/g, '-').slice(1, 30)}`);
      }
      // Violations of the content security policy are errors of the console, and so among the faults.
      expect(await explorer.closed()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it('is refused a script by its own policy (canary)', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE);
    await explorer.page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(hostile('canary'))})`);
    await explorer.page.locator('img').waitFor({ state: 'attached' });
    // Not waitForFunction: its polling evaluates text within the page, which the policy forbids.
    const asked = `performance.getEntriesByName(new URL('x', location.href).href).length > 0`;
    await expect.poll(() => explorer.page.evaluate(asked), { timeout: 10_000 }).toBe(true);
    expect(await explorer.page.evaluate('window.struck')).toBeUndefined();
    expect((await explorer.closed()).join('\n')).toContain('Content Security Policy');
  });

  it('reopens exactly the view that a copied address names, for a colleague with the redacted journal', async () => {
    // The colleague's file has the same name, and so the page the same texts.
    const [recorded, redacted] = [join(folder, 'recorded.db'), join(folder, 'subset-outage.jsonl')];
    await promisify(execFile)(process.execPath, [CLI, 'journal', 'import', '--journal', recorded, OUTAGE]);
    const exported = ['journal', 'export', '--redact', '--journal', recorded, '--file', redacted];
    await promisify(execFile)(process.execPath, [CLI, ...exported]);
    const served = await ServedExplorer.open(redacted);
    try {
      const own = await ExplorerPage.open(browser, outage.address, WIDE);
      for (const [name, hash, text] of OUTAGE_VIEWS) {
        await own.goTo(hash);
        await own.sees(text);
        const copied = await ExplorerPage.open(browser, served.address, WIDE, new URL(own.page.url()).hash);
        await copied.sees(text);
        // The strip and the lists come after the answer that is waited for.
        await expect.poll(async () => [name, await copied.text()], LONG).toEqual([name, await own.text()]);
        expect(await copied.closed()).toEqual([]);
      }
      expect(await own.closed()).toEqual([]);
    } finally {
      await served.close();
    }
  });

  it('shows the question that a copied address asks in its form', async () => {
    const hash = '#/bisect?condition=route-lost&proxy=productpage-v1.shop&value=reviews';
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE, hash);
    const chosen = (role: 'combobox' | 'textbox', name: string): Promise<string> =>
      explorer.page.getByRole(role, { name }).inputValue();
    await expect.poll(() => chosen('combobox', 'Proxy'), LONG).toBe('productpage-v1.shop');
    expect(await chosen('combobox', 'Condition')).toBe('route-lost');
    expect(await chosen('textbox', 'Host')).toBe('reviews');
    expect(await explorer.closed()).toEqual([]);
  });

  it('says what pasted YAML would change for each class of proxies, and exports it', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE, '#/what-if?at=112');
    const { page } = explorer;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const editor = page.getByRole('textbox', { name: 'Objects as YAML' });
    await editor.click();
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(RULE)})`);
    await page.keyboard.press('Control+V');
    await explorer.sees('of proxies change');
    await explorer.sees('outbound|9080|v3|reviews.shop.svc.cluster.local');
    await explorer.screenshot('what-if-pasted');
    const copied = async (what: string): Promise<string> => {
      await page.getByRole('button', { name: what }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      await page.getByRole('button', { name: what }).waitFor();
      return page.evaluate<string>('navigator.clipboard.readText()');
    };
    expect(await copied('Copy as Markdown')).toMatch(/^### xDS: event 112 → change\.yaml/);
    const command = await copied('Copy the command');
    expect(command).toMatch(/^periplus diff -f change\.yaml --at 112 --journal /);
    await writeFile(join(folder, 'change.yaml'), RULE);
    const args = command.replaceAll("'", '').split(' ').slice(1);
    const options = { cwd: folder };
    const said = await promisify(execFile)(process.execPath, [CLI, ...args], options).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    expect(said.stdout).toContain('outbound|9080|v3|reviews.shop.svc.cluster.local');
    // The journal's last subset to which a route leads is taken away.
    await editor.click();
    await page.keyboard.press('Control+A');
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(RULE.replace(/name: v1/, 'name: v9'))})`);
    await page.keyboard.press('Control+V');
    await explorer.sees('503 for that share');
    expect(await explorer.closed()).toEqual([]);
  });

  it('takes a file that is dropped, and an object that is edited in place', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, WIDE, '#/what-if?at=112');
    const { page } = explorer;
    const file = await page.evaluateHandle(
      `(() => { const dropped = new DataTransfer(); dropped.items.add(new File([${JSON.stringify(RULE)}], 'x.yaml')); return dropped; })()`,
    );
    await page.locator('.editor').dispatchEvent('drop', { dataTransfer: file });
    await explorer.sees('of proxies change');
    await explorer.sees('outbound|9080|v3|reviews.shop.svc.cluster.local');
    await explorer.screenshot('what-if-dropped');
    await explorer.goTo('#/object/DestinationRule/shop/reviews?at=112');
    await page.getByRole('link', { name: 'change it, and see what differs' }).click();
    const editor = page.getByRole('textbox', { name: 'Objects as YAML' });
    // The name of the subset that all requests go to; its labels stand before it.
    await editor.getByText('v1', { exact: true }).last().dblclick();
    await page.keyboard.type('v9');
    await explorer.sees('503 for that share');
    await explorer.screenshot('what-if-edited');
    await page.getByRole('button', { name: 'Back to the original' }).click();
    await explorer.sees('What differs for the proxies is shown here.');
    await page.getByRole('checkbox', { name: 'delete DestinationRule/shop/reviews instead' }).check();
    await explorer.sees('of proxies change');
    await explorer.screenshot('what-if-deleted');
    expect(await explorer.closed()).toEqual([]);
  });

  it('lets keys reach everything that a pointer can choose, and prints every view whole', async () => {
    const explorer = await ExplorerPage.open(browser, outage.address, { width: 1440, scheme: 'dark' });
    const { page } = explorer;
    for (const [name, hash, text] of OUTAGE_VIEWS) {
      await explorer.goTo(hash);
      await explorer.sees(text);
      await page.keyboard.press('Tab');
      expect([name, await page.evaluate(FOCUS_SCRIPT)]).toEqual([name, []]);
      await page.emulateMedia({ media: 'print' });
      // As wide as a sheet.
      await page.setViewportSize({ width: 794, height: 1123 });
      await expect.poll(async () => [name, await page.evaluate(CUT_SCRIPT)], LONG).toEqual([name, []]);
      await expect.poll(async () => [name, await explorer.faultsOfLooks()], LONG).toEqual([name, []]);
      const pdf = await page.pdf({ format: 'A4', path: join(SCREENSHOTS, `print-${name}.pdf`) });
      const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      expect([name, pages > 0 && pages < 8]).toEqual([name, true]);
      await page.screenshot({ path: join(SCREENSHOTS, `print-${name}.png`), fullPage: true });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ media: 'screen' });
    }
    expect(await explorer.closed()).toEqual([]);
  });
});

describe('the explorer of a control plane', () => {
  it.each([
    ['true', 200],
    ['false', 404],
  ])('with --ui=%s answers %d beside the debug pages', async (ui, status) => {
    const folder = await mkdtemp(join(tmpdir(), 'periplus-explorer-serve-'));
    const [http, monitoring, grpc] = await freePorts(3);
    const addresses = [`--httpAddr=127.0.0.1:${http}`, `--monitoringAddr=127.0.0.1:${monitoring}`];
    const args = [...addresses, `--grpcAddr=127.0.0.1:${grpc}`, '--httpsAddr=', '--secureGRPCAddr=', '--ctrlz_port=0'];
    const where = ['--configDir', folder, '--journal', join(folder, 'journal.db')];
    const serving = await ServedExplorer.run(['serve', ...where, ...args, `--ui=${ui}`], new RegExp(`(${grpc})`));
    try {
      const statusOf = async (port: number | undefined, path: string): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}${path}`)).status;
      await expect.poll(() => statusOf(http, '/ready').catch(() => 0), LONG).toBe(200);
      for (const port of [http, monitoring]) {
        expect([await statusOf(port, '/ui/'), await statusOf(port, '/api/v1/info')]).toEqual([status, status]);
        expect(await statusOf(port, '/debug/syncz')).toBe(200);
      }
    } finally {
      await serving.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** A view, and the text that it has to show as it is written; empty: it shows none. */
const HOSTILE_VIEWS: readonly (readonly [string, string])[] = [
  ['#/timeline', 'manager'],
  ['#/timeline?event=2&at=2', 'annotation'],
  ['#/timeline?event=4&at=4', 'name'],
  ['#/timeline?event=8&at=8', 'nack'],
  ['#/timeline?event=9&at=9', 'malformed'],
  ['#/mesh', 'nack'],
  ['#/proxy', 'version'],
  ['#/proxy/web.shop', 'path'],
  ['#/proxy/web.shop?tab=clusters', ''],
  ['#/proxy/web.shop?tab=raw&type=RDS&name=80', ''],
  [`#/proxy/web.shop?tab=ask&to=web%3A80&path=${encodeURIComponent(`/${hostile('path')}`)}`, 'route'],
  [`#/object/VirtualService/shop/${encodeURIComponent(hostile('name'))}`, 'name'],
  ['#/object/VirtualService/shop/web', 'path'],
  ['#/what-if?at=9&from=1', ''],
  [`#/what-if?yaml=${encodeURIComponent(`${hostile('yaml')}: x`)}`, 'yaml'],
  ['#/push/7', ''],
  ['#/push/nack/8', 'nack'],
  ['#/push/slow', ''],
  ['#/bisect?run=incident', 'nack'],
  [`#/${hostile('hash')}/${hostile('hash')}?q=${hostile('hash')}`, ''],
];

const RULE = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: reviews, namespace: shop}
spec:
  host: reviews
  subsets:
    - name: v1
      labels: {version: v1}
    - name: v2
      labels: {version: v2}
    - name: v3
      labels: {version: v3}
`;
