// A list of any length of which only the visible rows exist. One row is chosen; arrow keys move the choice.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { centredTopFor, type ListGeometry, rowWindow, scrollTopFor } from '../model/row-window.ts';

interface VirtualListProps {
  readonly label: string;
  readonly rows: number;
  readonly rowPx: number;
  /** -1: none. */
  readonly chosen: number;
  /** Keeps the last row in sight as rows come. */
  readonly sticky?: boolean;
  readonly draw: (row: number) => ComponentChildren;
  readonly onChoose: (row: number) => void;
  /** The rows on screen, `end` exclusive. */
  readonly onWindow?: (first: number, end: number) => void;
}

const PAGE_ROWS = 15;
/** Until it is measured. */
const VIEWPORT_PX = 600;
/** On paper a list is as high as its rows: they are not to call for more of themselves without end. */
const VIEWPORT_PX_MAX = 4_000;

export function VirtualList({ label, rows, rowPx, chosen, sticky, draw, onChoose, onWindow }: VirtualListProps) {
  const box = useRef<HTMLDivElement>(null);
  // Where it will be scrolled to at once: the rows at its top are not asked for.
  const [view, setView] = useState(() => {
    const row = sticky === true ? rows - 1 : chosen;
    const top = row < 0 ? 0 : centredTopFor({ rows, rowPx, viewportPx: VIEWPORT_PX }, row);
    return { top, px: VIEWPORT_PX };
  });
  const geometry: ListGeometry = { rows, rowPx, viewportPx: view.px };
  const { heightPx, first, end, offsetPx } = rowWindow(geometry, view.top);
  useLayoutEffect(() => {
    const measured = box.current;
    if (measured === null) return undefined;
    const observer = new ResizeObserver(() =>
      setView(before => ({ ...before, px: Math.min(measured.clientHeight, VIEWPORT_PX_MAX) })),
    );
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onWindow?.(first, end), [first, end, rows, onWindow]);
  /** The scroll position that put the chosen row in the middle: it stays there until the list is scrolled. */
  const centredAt = useRef<number | undefined>(undefined);
  const isFirst = useRef(true);
  const byKey = useRef(false);
  const scrollTo = (row: number, where: 'nearest' | 'middle'): void => {
    const element = box.current;
    if (element === null || row < 0) return;
    const seen = { ...geometry, viewportPx: element.clientHeight };
    element.scrollTop = where === 'middle' ? centredTopFor(seen, row) : scrollTopFor(seen, row, element.scrollTop);
    centredAt.current = where === 'middle' ? element.scrollTop : undefined;
  };
  useLayoutEffect(() => {
    const isSeen = chosen >= first && chosen < end && !isFirst.current;
    scrollTo(chosen, byKey.current || isSeen ? 'nearest' : 'middle');
    if (chosen >= 0) isFirst.current = false;
    byKey.current = false;
  }, [chosen]);
  useLayoutEffect(() => {
    if (sticky === true) scrollTo(rows - 1, 'nearest');
  }, [rows, sticky]);
  // What was in sight stays there when the list becomes lower.
  const before = useRef([first, end] as const);
  useLayoutEffect(() => {
    const [start, stop] = before.current;
    const row = sticky === true ? rows - 1 : chosen;
    const isCentred = sticky !== true && centredAt.current === box.current?.scrollTop;
    if (isCentred || (row >= start && row < stop)) scrollTo(row, isCentred ? 'middle' : 'nearest');
  }, [view.px]);
  useLayoutEffect(() => {
    before.current = [first, end];
  });
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(rows - 1, chosen + 1),
    ArrowUp: chosen < 0 ? rows - 1 : Math.max(0, chosen - 1),
    PageDown: Math.min(rows - 1, chosen + PAGE_ROWS),
    PageUp: Math.max(0, chosen - PAGE_ROWS),
    Home: 0,
    End: rows - 1,
  };
  return (
    <div
      ref={box}
      class="list"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen >= first && chosen < end ? `row-${chosen}` : undefined}
      onScroll={event => {
        const { scrollTop } = event.currentTarget;
        setView(before => ({ ...before, top: scrollTop }));
      }}
      onKeyDown={event => {
        const row = moves[event.key];
        if (row === undefined || rows === 0) return;
        event.preventDefault();
        event.stopPropagation();
        byKey.current = true;
        onChoose(row);
      }}
    >
      <div style={{ height: `${heightPx}px` }} />
      <div class="list-rows" style={{ top: `${offsetPx}px` }}>
        {Array.from({ length: Math.max(0, end - first) }, (_, i) => draw(first + i))}
      </div>
    </div>
  );
}
