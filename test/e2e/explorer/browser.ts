// Chromium for tests: Debian's, driven by playwright-core, which downloads nothing. A page reports what a reader would
// not see: errors of its scripts, files or styles that the content security policy blocked, refused requests.

import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { find, run } from '../kube/binaries.ts';
import { until } from '../kube/until.ts';
import { canRun } from '../suite.ts';
import { CONTRAST_SCRIPT, OVERFLOW_SCRIPT } from './page-checks.ts';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
/** The machine may be busy: only what hangs fails. */
const WAIT_MS_MAX = 150_000;
/** Kept after the run, for people to look at. */
export const SCREENSHOTS = process.env.PERIPLUS_SCREENSHOTS ?? join(tmpdir(), 'periplus-explorer');

/** The program; undefined when it cannot be had, which is a failure where everything has to run. */
export async function chromiumOrSkip(suite: string): Promise<string | undefined> {
  try {
    return await installed();
  } catch (error) {
    canRun(suite, (error as Error).message);
    return undefined;
  }
}

async function installed(): Promise<string> {
  for (const name of PROGRAMS) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  if (process.getuid?.() !== 0 || find('apt-get') === undefined) {
    throw new Error('there is no Chromium (Debian: apt-get install chromium)');
  }
  await run('apt-get', ['update']);
  await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core']);
  const found = find('chromium');
  if (found === undefined) throw new Error('chromium was installed and there is no chromium');
  return found;
}

export async function launch(program: string): Promise<Browser> {
  await mkdir(SCREENSHOTS, { recursive: true });
  // In containers the tests are root, and root has no sandbox.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface Looks {
  readonly width: 1440 | 390;
  readonly scheme: 'light' | 'dark';
}

const HEIGHT_PX: Readonly<Record<Looks['width'], number>> = { 1440: 900, 390: 844 };

/** A page of the explorer. Close it with `closed`, which gives the faults it reported. */
export class ExplorerPage {
  readonly page: Page;
  readonly looks: Looks;
  readonly #base: string;
  readonly #faults: string[] = [];

  private constructor(page: Page, base: string, looks: Looks) {
    this.page = page;
    this.looks = looks;
    this.#base = base;
  }

  /** `base`: the address that the program printed; `about:blank`: the page is empty at first. */
  static async open(browser: Browser, base: string, looks: Looks, hash = ''): Promise<ExplorerPage> {
    const { width, scheme } = looks;
    const page = await browser.newPage({ viewport: { width, height: HEIGHT_PX[width] }, colorScheme: scheme });
    page.setDefaultTimeout(WAIT_MS_MAX);
    const explorer = new ExplorerPage(page, base, looks);
    page.on('pageerror', error => explorer.#faults.push(error.stack ?? error.message));
    page.on('console', message => {
      if (message.type() === 'error') explorer.#faults.push(message.text());
    });
    page.on('response', response => {
      if (response.status() >= 400) explorer.#faults.push(`${response.status()} ${response.url()}`);
    });
    await page.goto(`${base}${hash}`);
    if (base !== 'about:blank') await explorer.settled();
    return explorer;
  }

  async goTo(hash: string): Promise<void> {
    await this.page.goto(`${this.#base}${hash}`);
    await this.settled();
  }

  /** No answer is on its way any more. */
  async settled(): Promise<void> {
    await this.page.locator('.app').waitFor();
    const waiting = this.page.locator('.busy, .stale');
    await until('every answer', async () => (await waiting.count()) === 0, WAIT_MS_MAX);
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).filter({ visible: true }).first().waitFor();
  }

  /** All that the page says; marks of the strip come late, and are no text. */
  async text(): Promise<string> {
    return (await this.page.locator('.app').textContent()) ?? '';
  }

  async screenshot(name: string): Promise<void> {
    const { width, scheme } = this.looks;
    await this.page.screenshot({
      path: join(SCREENSHOTS, `${name}-${width}-${scheme}.png`),
      fullPage: width === 390,
    });
  }

  /** Texts whose contrast is below AA, and whether the page is wider than the screen. */
  async faultsOfLooks(): Promise<readonly string[]> {
    const contrast = await this.page.evaluate<readonly string[]>(CONTRAST_SCRIPT);
    const overflow = await this.page.evaluate<readonly string[]>(OVERFLOW_SCRIPT);
    return [...contrast, ...overflow];
  }

  async closed(): Promise<readonly string[]> {
    await this.page.close();
    return this.#faults;
  }
}
