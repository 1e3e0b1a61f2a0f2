// Runs commands of the CLI in this process and keeps what they print, as a terminal would show it.

import { vi } from 'vitest';
import { run } from '../../src/cli/program.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function periplus(...args: readonly string[]): Promise<Ran> {
  const written = { out: '', err: '' };
  const keep = (to: 'out' | 'err') => (text: string | Uint8Array) => {
    written[to] += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(keep('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(keep('err')),
  ];
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await run(args);
    return { code: Number(process.exitCode), ...written };
  } finally {
    process.exitCode = before;
    for (const spy of spies) spy.mockRestore();
  }
}
