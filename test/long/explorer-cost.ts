// What a view of the explorer costs: CPU time of the server's threads and of the page's main thread, and time by the
// clock. On a machine that other programs use the clock tells little; what was computed stays the same.

import { readdirSync, readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';

export interface Cost {
  readonly serverMs: number;
  readonly pageMs: number;
  readonly clockMs: number;
}

export class CostMeter {
  readonly #server: number;
  readonly #session: CDPSession;

  private constructor(server: number, session: CDPSession) {
    this.#server = server;
    this.#session = session;
  }

  /** `server`: its process. */
  static async of(page: Page, server: number): Promise<CostMeter> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new CostMeter(server, session);
  }

  async costOf(work: () => Promise<unknown>): Promise<Cost> {
    const [page, server, clock] = [await this.#pageMs(), cpuMsOf(this.#server), performance.now()];
    await work();
    const clockMs = performance.now() - clock;
    return { serverMs: cpuMsOf(this.#server) - server, pageMs: (await this.#pageMs()) - page, clockMs };
  }

  async #pageMs(): Promise<number> {
    const { metrics } = await this.#session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  }
}

/** Of all threads, as Linux counts it. */
export function cpuMsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    try {
      return sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      // The thread has ended.
      return sum;
    }
  }, 0);
}

/** One line: the median and the most of each. */
export function printCosts(what: string, costs: readonly Cost[]): void {
  const spread = (of: (cost: Cost) => number): string => {
    const sorted = costs.map(of).sort((a, b) => a - b);
    const [median, most] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
    return costs.length === 1 ? `${Math.round(most)}` : `${Math.round(median)} (at most ${Math.round(most)})`;
  };
  const [server, page, clock] = [
    spread(({ serverMs }) => serverMs),
    spread(({ pageMs }) => pageMs),
    spread(({ clockMs }) => clockMs),
  ];
  process.stderr.write(`${what}: CPU of the server ${server} ms, of the page ${page} ms; by the clock ${clock} ms\n`);
}
