// The outages that a timeline marks: what `periplus incident` finds in a range, one line each. A background question:
// the strip asks it by itself, and a question of the reader goes before it.

import { incident } from '../../history/incident.ts';
import type { Outages } from './api-questions.ts';
import { type Asked, positionIn, requireAll } from './question.ts';
import type { Reader } from './reader.ts';

/** A longer range, or a mesh with more objects times proxies, is looked through only when the reader asks for it. */
export const UNASKED_EVENTS_MAX = 20_000;
export const UNASKED_WORK_MAX = 20_000;

/** Every position that is looked at costs what the configuration of all proxies costs. */
async function isLittle(history: Reader['history'], from: number, to: number): Promise<boolean> {
  if (to - from >= UNASKED_EVENTS_MAX) return false;
  const { records, proxies } = await history.at(to);
  return records.size * proxies.size <= UNASKED_WORK_MAX;
}

export async function outages({ history }: Reader, asked: Asked): Promise<Outages> {
  requireAll(asked);
  const from = await positionIn(history.journal, asked, 'from', history.first());
  const to = await positionIn(history.journal, asked, 'to', history.head().seq);
  const isWanted = asked.query.get('long') === 'true' || (await isLittle(history, from, to));
  if (!isWanted || from >= to) return { from, to, looked: isWanted, outages: [] };
  const { breaks } = await incident(history, { from, to }, { onProgress: asked.progress });
  return {
    from,
    to,
    looked: true,
    outages: breaks.map(({ seq, time, event, symptoms }) => ({
      seq,
      time,
      event,
      warnings: symptoms.map(({ kind, what, proxies, lasts }) => ({ kind, what, proxies: proxies.length, lasts })),
    })),
  };
}
