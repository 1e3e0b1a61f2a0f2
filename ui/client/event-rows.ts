// The rows of the timeline: asked for by pages as they come on screen, kept while the filter stays.

import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Density, EventPage, EventRow } from '../../src/admin/explorer/api.ts';
import { isCoarse, pagesFor, refined, rowsOf, type Segment, segmentsOf, wholeOf } from '../model/event-index.ts';
import { type FilterQuery, passesAll } from '../model/filters.ts';
import { ask, type Query, urlOf } from './api-client.ts';

const BUCKETS = 400;
/** Pages kept; the oldest go first. */
const PAGES_MAX = 60;

export interface EventRows {
  readonly total: number;
  /** Undefined: not loaded yet. */
  readonly rowAt: (row: number) => EventRow | undefined;
  readonly segments: readonly Segment[];
  readonly onWindow: (first: number, end: number) => void;
  readonly fault: string | undefined;
  /** Counts are final. */
  readonly complete: boolean;
}

/** While the server still indexes, counts are asked for again this often. */
const INDEXING_MS = 1_000;

interface Counts {
  /** Of which filter. */
  readonly key: string;
  readonly segments: readonly Segment[];
  readonly complete: boolean;
  /** The last event that is counted. */
  readonly to: number;
  /** Of the whole count: rows of an earlier one may have moved. */
  readonly version: number;
}

let versions = 0;
const NONE: Counts = { key: '', segments: [], complete: false, to: 0, version: 0 };

/**
 * Without a filter rows are events, and nothing is counted. New events that pass one are counted beside the others, so
 * that rows on screen stay where they are.
 */
export function useEventRows(filter: FilterQuery, from: number, to: number): EventRows {
  const key = JSON.stringify([filter, from]);
  const [counts, setCounts] = useState<Counts>(NONE);
  const [fault, setFault] = useState<string>();
  const own = counts.key === key ? counts : NONE;
  const failed = useCallback((error: unknown): void => {
    if ((error as Error).name !== 'AbortError') setFault((error as Error).message);
  }, []);
  const isNew = own === NONE || !own.complete;
  const isWhole = passesAll(filter);
  const whole = useMemo(() => wholeOf(from, to), [from, to]);
  useEffect(() => {
    if (isWhole) return setFault(undefined);
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const count = async (): Promise<void> => {
      const range = isNew ? { from, buckets: BUCKETS } : { from: own.to + 1, buckets: 1 };
      if (range.from > to) return;
      const url = urlOf('density', { ...filter, by: 'seq', ...range, to });
      const { buckets, index } = await ask<Density>(url, { signal: controller.signal, isFinal: () => false });
      const found = segmentsOf(buckets);
      const segments = isNew ? found : [...own.segments, ...found];
      const version = isNew ? ++versions : own.version;
      setCounts({ key, segments, complete: index.complete, to, version });
      if (!index.complete) {
        timer = setTimeout(() => void count().catch(failed), INDEXING_MS);
      }
      setFault(undefined);
    };
    count().catch(failed);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [key, to, isNew]);
  const segments = isWhole ? whole : own.segments;
  const { rowAt, onWindow } = useLoadedRows(filter, `${own.version} ${key}`, segments, setCounts, failed);
  const complete = isWhole || own.complete;
  return { total: rowsOf(segments), rowAt, segments, onWindow, fault, complete };
}

type Refine = (change: (before: Counts) => Counts) => void;

/** The rows on screen, by pages. */
function useLoadedRows(
  filter: Query,
  key: string,
  segments: readonly Segment[],
  refine: Refine,
  failed: (error: unknown) => void,
): Pick<EventRows, 'rowAt' | 'onWindow'> {
  const loaded = useRef({ key, rows: new Map<number, EventRow>(), asked: new Set<string>() });
  if (loaded.current.key !== key) loaded.current = { key, rows: new Map(), asked: new Set() };
  const [, setVersion] = useState(0);
  const window = useRef<readonly [number, number]>([0, 0]);
  const fill = useCallback(
    async (first: number, end: number): Promise<void> => {
      const { rows, asked } = loaded.current;
      for (const page of pagesFor(segments, first, end)) {
        const name = `${page.row} ${page.from}-${page.to}`;
        if (asked.has(name)) continue;
        asked.add(name);
        const range = { ...filter, from: page.from, to: page.to };
        const forgotten = (error: unknown): never => {
          asked.delete(name);
          throw error;
        };
        if (isCoarse(page)) {
          const density = await ask<Density>(urlOf('density', { ...range, by: 'seq', buckets: BUCKETS })).catch(
            forgotten,
          );
          const parts = segmentsOf(density.buckets);
          refine(now =>
            `${now.version} ${now.key}` === key ? { ...now, segments: refined(now.segments, page, parts) } : now,
          );
          return;
        }
        const { rows: found } = await ask<EventPage>(urlOf('events', { ...range, limit: page.count })).catch(forgotten);
        if (asked.size > PAGES_MAX) {
          rows.clear();
          asked.clear();
          asked.add(name);
        }
        for (const [i, row] of found.entries()) rows.set(page.row + i, row);
        setVersion(version => version + 1);
      }
    },
    [segments, key],
  );
  const onWindow = useCallback(
    (first: number, end: number): void => {
      window.current = [first, end];
      fill(first, end).catch(failed);
    },
    [fill],
  );
  useEffect(() => onWindow(...window.current), [onWindow]);
  return { rowAt: row => loaded.current.rows.get(row), onWindow };
}
