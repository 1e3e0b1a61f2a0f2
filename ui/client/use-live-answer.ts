// An answer about a moment that the mesh is still reacting to: what an event led to, who refused a push. While the
// journal grows and the moment is young, the answer is asked for again; later it never changes.

import { useCallback } from 'preact/hooks';
import { useApp } from '../app-state.ts';
import { type Answered, useAnswer } from './use-answer.ts';

/** As long as the server follows an event (Convergence), and some time for the last receipts to be written. */
const YOUNG_MS = 70_000;

/** `timeOf`: when the moment was; a constant function. */
export function useLiveAnswer<T>(url: string, timeOf: (data: T) => number, keepBefore = true): Answered<T> {
  const { mode } = useApp().info;
  const isFinal = useCallback(
    (data: T): boolean => mode !== 'serve' || Date.now() - timeOf(data) > YOUNG_MS,
    [mode, timeOf],
  );
  return useAnswer<T>(url, keepBefore, isFinal);
}
