// The end of what was opened: one part after the other. A part that cannot be closed keeps no other open; the log says
// each reason, and the caller hears the first once everything else is closed.

import type { Log } from './log.ts';

/** Rejects with the first reason. */
export async function closeEach(closers: readonly (() => Promise<unknown>)[], log: Log): Promise<void> {
  const failed: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failed.push(error);
      log('error', `while stopping: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failed.length > 0) throw failed[0];
}
