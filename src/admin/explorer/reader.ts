// What a thread asks about states with: the journal as a history, whose folding reports how far it is and stops once
// the answer is not wanted any more.

import { Checkpoints } from '../../history/checkpoints.ts';
import { History } from '../../history/history.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Asked } from './question.ts';

export interface Reader {
  readonly history: History;
  /** What people call the journal, for the command lines that answers name. */
  readonly title: string;
  /** Folding tells this question. */
  during<T>(asked: Pick<Asked, 'progress'>, work: () => Promise<T>): Promise<T>;
}

/** The first visit of a moment counts, and states all along the journal are prepared beside it. */
const STATES_A_WAY = 2;

/** `travels`: one question visits many positions. */
export function openReader(journal: Journal, title: string, travels: boolean): Reader {
  let progress: Asked['progress'] = () => undefined;
  const history = new History(journal, {
    onProgress: (seq, to, from) => progress(seq - from, to - from),
    ...(travels ? {} : { statesAWay: STATES_A_WAY, checkpoints: Checkpoints.along(journal.head().seq) }),
  });
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
