// Which rows of a long list are drawn. Browsers clip elements above some 30 million pixels, so a very long list gets a
// scroll range of at most SCROLL_PX_MAX, and the scroll position is scaled to rows.
//
// Invariant: at the top the first row is drawn, at the bottom the last, and every row can be reached.

export const SCROLL_PX_MAX = 12_000_000;

export interface ListGeometry {
  readonly rows: number;
  readonly rowPx: number;
  readonly viewportPx: number;
}

export interface RowWindow {
  /** Height of the scrolled element. */
  readonly heightPx: number;
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** Where the first drawn row begins, from the top of the scrolled element. */
  readonly offsetPx: number;
}

/** Rows drawn beyond each edge, so that a small scroll shows no gap. */
const OVERSCAN_ROWS = 6;

export function heightOf({ rows, rowPx }: ListGeometry): number {
  return Math.min(rows * rowPx, SCROLL_PX_MAX);
}

export function rowWindow(geometry: ListGeometry, scrollTop: number): RowWindow {
  const { rows, rowPx, viewportPx } = geometry;
  const heightPx = heightOf(geometry);
  const topRow = topRowAt(geometry, scrollTop);
  const first = Math.max(0, Math.floor(topRow) - OVERSCAN_ROWS);
  const end = Math.min(rows, Math.ceil(topRow + viewportPx / rowPx) + OVERSCAN_ROWS);
  return { heightPx, first, end, offsetPx: scrollTop - (topRow - first) * rowPx };
}

/** The row at the upper edge, with a fraction. */
function topRowAt({ rows, rowPx, viewportPx }: ListGeometry, scrollTop: number): number {
  const full = rows * rowPx;
  const range = Math.min(full, SCROLL_PX_MAX) - viewportPx;
  if (range <= 0) return 0;
  const share = Math.min(1, Math.max(0, scrollTop / range));
  return (share * (full - viewportPx)) / rowPx;
}

/** The scroll position that shows a row, or the present one if it is visible. */
export function scrollTopFor(geometry: ListGeometry, row: number, scrollTop: number): number {
  const { rowPx, viewportPx } = geometry;
  const top = topRowAt(geometry, scrollTop) * rowPx;
  const begins = row * rowPx;
  const wanted = begins < top ? begins : begins + rowPx > top + viewportPx ? begins + rowPx - viewportPx : top;
  return wanted === top ? Math.min(scrollTop, rangeOf(geometry)) : scrollTopAt(geometry, wanted);
}

/** The scroll position that shows a row in the middle, as far as the list's ends allow it. */
export function centredTopFor(geometry: ListGeometry, row: number): number {
  const { rowPx, viewportPx } = geometry;
  return scrollTopAt(geometry, (row + 0.5) * rowPx - viewportPx / 2);
}

/** `px`: of the rows at their full height, at the upper edge. */
function scrollTopAt(geometry: ListGeometry, px: number): number {
  const { rows, rowPx, viewportPx } = geometry;
  const range = rangeOf(geometry);
  return range === 0 ? 0 : Math.min(range, Math.max(0, (px / (rows * rowPx - viewportPx)) * range));
}

function rangeOf(geometry: ListGeometry): number {
  return Math.max(0, heightOf(geometry) - geometry.viewportPx);
}
