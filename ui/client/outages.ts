// The outages of the visible part of the strip. The question is a long one: it waits until the part stands still, and
// the server prefers every other question to it.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Outage, Outages } from '../../src/admin/explorer/api-questions.ts';
import type { Span } from '../model/strip.ts';
import { ask, urlOf } from './api-client.ts';

const STILL_MS = 600;
/** While events come, the newest are looked at this often. */
const REFRESH_MS = 30_000;

export interface KnownOutages {
  readonly outages: readonly Outage[];
  /** Looks through a part that is too long to be looked through unasked; undefined: nothing is left to look through. */
  readonly look: (() => void) | undefined;
  readonly isLooking: boolean;
}

interface Found extends Outages {
  readonly askedAt: number;
}

export function useOutages({ from, to }: Span): KnownOutages {
  const [found, setFound] = useState<Found>();
  const [looking, setLooking] = useState(false);
  const [long, setLong] = useState<string>();
  const latest = useRef<Found>(undefined);
  latest.current = found;
  const isLong = long === `${from}-${to}`;
  useEffect(() => {
    const controller = new AbortController();
    const question = async (): Promise<void> => {
      setLooking(true);
      const url = urlOf('outages', { from, to, long: isLong ? 'true' : undefined });
      try {
        setFound({ ...(await ask<Outages>(url, { signal: controller.signal })), askedAt: Date.now() });
      } catch {
        if (controller.signal.aborted) return;
        // No marks: asking again by hand (Find the cause) shows the fault.
      }
      setLooking(false);
    };
    const before = latest.current;
    const isNewer = before !== undefined && before.from === from && before.to < to && !isLong;
    const wait = isNewer ? Math.max(STILL_MS, REFRESH_MS - (Date.now() - before.askedAt)) : STILL_MS;
    const timer = setTimeout(() => void question(), wait);
    return () => {
      controller.abort();
      clearTimeout(timer);
      setLooking(false);
    };
  }, [from, to, isLong]);
  const look = found?.looked === false && found.from === from ? () => setLong(`${from}-${to}`) : undefined;
  return { outages: found?.outages ?? [], look, isLooking: looking };
}
