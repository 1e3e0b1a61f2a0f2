// An answer of the API as a component's state. While the next answer is on its way the one before stays on screen, so
// that moving through time does not flicker; `stale` says so.

import { useEffect, useState } from 'preact/hooks';
import { ApiFault, ask, known } from './api-client.ts';

export interface Answered<T> {
  readonly data: T | undefined;
  readonly fault: string | undefined;
  /** `data` is the answer to an earlier question. */
  readonly stale: boolean;
}

/** `url` undefined: nothing to ask. `keepBefore` false: another subject, whose data would mislead. */
export function useAnswer<T>(url: string | undefined, keepBefore = true): Answered<T> {
  const [state, setState] = useState<Held<T>>({ url: undefined, data: undefined, fault: undefined });
  useEffect(() => {
    if (url === undefined) return undefined;
    const at = known<T>(url);
    if (at !== undefined) {
      setState({ url, data: at, fault: undefined });
      return undefined;
    }
    const controller = new AbortController();
    ask<T>(url, controller.signal).then(
      data => setState({ url, data, fault: undefined }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const fault = error instanceof ApiFault ? error.message : String(error);
        setState(before => ({ url, data: keepBefore ? before.data : undefined, fault }));
      },
    );
    return () => controller.abort();
  }, [url, keepBefore]);
  if (url === undefined) return { data: undefined, fault: undefined, stale: false };
  if (state.url === url) return { data: state.data, fault: state.fault, stale: state.fault !== undefined };
  const now = known<T>(url);
  if (now !== undefined) return { data: now, fault: undefined, stale: false };
  return { data: keepBefore ? state.data : undefined, fault: undefined, stale: true };
}

interface Held<T> {
  readonly url: string | undefined;
  readonly data: T | undefined;
  readonly fault: string | undefined;
}
