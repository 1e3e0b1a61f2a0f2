// The width of an element, kept up to date.

import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** 0 until it is measured. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return undefined;
    setWidth(Math.floor(measured.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(measured.clientWidth)));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
