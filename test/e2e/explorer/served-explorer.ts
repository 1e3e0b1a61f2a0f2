// `periplus ui` as a user runs it: a process of its own that prints its address.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { until } from '../kube/until.ts';

export const CLI = join(import.meta.dirname, '../../../dist/cli/main.js');

export class ServedExplorer {
  readonly address: string;
  readonly #child: ChildProcess;

  private constructor(address: string, child: ChildProcess) {
    this.address = address;
    this.#child = child;
  }

  /** `journal`: a journal, or an exported one. */
  static async open(journal: string): Promise<ServedExplorer> {
    return ServedExplorer.run(['ui', '--no-open', '--port', '0', journal], /(http:\/\/\S+\/ui\/)/);
  }

  /** `address`: finds the explorer's address in what the program prints. */
  static async run(args: readonly string[], address: RegExp): Promise<ServedExplorer> {
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
    }
    await until(`an address (it said: ${said})`, () => {
      if (child.exitCode !== null) throw new Error(`periplus ${args.join(' ')} ended with ${child.exitCode}: ${said}`);
      return address.test(said);
    });
    return new ServedExplorer(address.exec(said)?.[1] ?? '', child);
  }

  /** Of the program. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise(resolve => this.#child.once('exit', resolve));
    this.#child.kill('SIGINT');
    await ended;
  }
}
