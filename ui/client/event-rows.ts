// The rows of the timeline: asked for by pages as they come on screen, kept while the filter stays.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Density, EventPage, EventRow } from '../../src/admin/explorer/api.ts';
import { isCoarse, pagesFor, refined, rowsOf, type Segment, segmentsOf } from '../model/event-index.ts';
import { ask, type Query, urlOf } from './api-client.ts';

const BUCKETS = 400;
/** Pages kept; the oldest go first. */
const PAGES_MAX = 60;

export interface EventRows {
  readonly total: number;
  readonly rowAt: (row: number) => EventRow | undefined;
  /** The row of an event, if it is loaded. */
  readonly segments: readonly Segment[];
  readonly onWindow: (first: number, end: number) => void;
  readonly loaded: ReadonlyMap<number, EventRow>;
  readonly fault: string | undefined;
  /** Counts are final. */
  readonly complete: boolean;
}

/** While the server still indexes, counts are asked for again this often. */
const INDEXING_MS = 1_000;

export function useEventRows(filter: Query, from: number, to: number): EventRows {
  const key = JSON.stringify([filter, from]);
  const [segments, setSegments] = useState<readonly Segment[]>([]);
  const [complete, setComplete] = useState(false);
  const [fault, setFault] = useState<string>();
  const rows = useRef(new Map<number, EventRow>());
  const [, setVersion] = useState(0);
  const asked = useRef(new Set<string>());
  const window = useRef<readonly [number, number]>([0, 0]);
  const generation = useRef(key);
  if (generation.current !== key) {
    generation.current = key;
    asked.current = new Set();
  }
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      const url = urlOf('density', { ...filter, by: 'seq', buckets: BUCKETS, from, to });
      const density = await ask<Density>(url, controller.signal, false);
      rows.current = new Map();
      asked.current = new Set();
      setSegments(segmentsOf(density.buckets));
      setComplete(density.index.complete);
      setFault(undefined);
      if (!density.index.complete) timer = setTimeout(() => void load().catch(failed), INDEXING_MS);
    };
    const failed = (error: unknown): void => {
      if (!controller.signal.aborted) setFault((error as Error).message);
    };
    load().catch(failed);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, to]);

  const fill = useCallback(
    async (first: number, end: number): Promise<void> => {
      for (const page of pagesFor(segments, first, end)) {
        const name = `${page.from}-${page.to}`;
        if (asked.current.has(name)) continue;
        asked.current.add(name);
        const range = { ...filter, from: page.from, to: page.to };
        if (isCoarse(page)) {
          const density = await ask<Density>(urlOf('density', { ...range, by: 'seq', buckets: BUCKETS }));
          if (generation.current === key) setSegments(before => refined(before, page, segmentsOf(density.buckets)));
          return;
        }
        const { rows: found } = await ask<EventPage>(urlOf('events', { ...range, limit: page.count }));
        if (generation.current !== key) return;
        if (asked.current.size > PAGES_MAX) {
          rows.current = new Map();
          asked.current = new Set([name]);
        }
        for (const [i, row] of found.entries()) rows.current.set(page.row + i, row);
        setVersion(version => version + 1);
      }
    },
    [segments, key],
  );
  const onWindow = useCallback(
    (first: number, end: number): void => {
      window.current = [first, end];
      fill(first, end).catch((error: unknown) => setFault((error as Error).message));
    },
    [fill],
  );
  useEffect(() => onWindow(...window.current), [onWindow]);
  return {
    total: rowsOf(segments),
    rowAt: row => rows.current.get(row),
    segments,
    onWindow,
    loaded: rows.current,
    fault,
    complete,
  };
}
