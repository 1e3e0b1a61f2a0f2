// What a thread asks about states with: the journal as a history, whose folding reports how far it is and stops once
// the answer is not wanted any more.

import { Checkpoints } from '../../history/checkpoints.ts';
import { History, type HistoryOptions } from '../../history/history.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Asked } from './question.ts';

export interface Reader {
  readonly history: History;
  /** What people call the journal, for the command lines that answers name. */
  readonly title: string;
  /** Folding tells this question. */
  during<T>(asked: Pick<Asked, 'progress'>, work: () => Promise<T>): Promise<T>;
}

/** The first visit of a moment counts. */
const STATES_A_WAY = 2;

/**
 * `visits`: what its questions do. `many`: each visits many positions; `one`: one position; `prepared`: one, and states
 * all along the journal are prepared beside, so that a way need not leave any.
 */
export function openReader(journal: Journal, title: string, visits: 'many' | 'one' | 'prepared'): Reader {
  let progress: Asked['progress'] = () => undefined;
  const onProgress = (seq: number, to: number, from: number): void => progress(seq - from, to - from);
  const statesAWay = visits === 'one' ? STATES_A_WAY : 0;
  const along = (): HistoryOptions => ({ statesAWay, checkpoints: Checkpoints.along(journal.head().seq) });
  const history = new History(journal, { onProgress, ...(visits === 'many' ? {} : along()) });
  return {
    history,
    title,
    during: async (asked, work) => {
      progress = asked.progress;
      try {
        return await work();
      } finally {
        progress = () => undefined;
      }
    },
  };
}
