// An answer of the API as a component's state. While the next answer is on its way the one before stays on screen, so
// that moving through time does not flicker; `stale` says so.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Progress } from '../../src/admin/explorer/api.ts';
import { ApiFault, ask, known } from './api-client.ts';

export interface Answered<T> {
  readonly data: T | undefined;
  readonly fault: string | undefined;
  /** `data` is the answer to an earlier question. */
  readonly stale: boolean;
  /** Of a question that takes longer than a second. */
  readonly progress?: Progress | undefined;
}

/** An answer that is not final is asked for again this long after it came. */
const AGAIN_MS = 1_000;
const always = (): boolean => true;

/**
 * `url` undefined: nothing to ask. `keepBefore` false: another subject, whose data would mislead. `isFinal`: a constant
 * function; false while the server still indexes, so that the question is asked again. A question that
 * differs from the running one in its moment alone waits for it: a head that moves faster than answers come would
 * otherwise leave the reader without any.
 */
export function useAnswer<T>(
  url: string | undefined,
  keepBefore = true,
  isFinal: (data: T) => boolean = always,
): Answered<T> {
  const [state, setState] = useState<Held<T>>({ url: undefined, data: undefined, fault: undefined });
  const [progress, setProgress] = useState<Progress>();
  const running = useRef<{ readonly url: string; readonly controller: AbortController }>(undefined);
  const wanted = useRef(url);
  wanted.current = url;
  const again = useRef<ReturnType<typeof setTimeout>>(undefined);
  const start = useCallback(
    (asked: string): void => {
      clearTimeout(again.current);
      const controller = new AbortController();
      running.current = { url: asked, controller };
      const ended = (held: (before: Held<T>) => Held<T>): void => {
        if (controller.signal.aborted) return;
        running.current = undefined;
        setProgress(undefined);
        setState(held);
        const next = wanted.current;
        if (next !== undefined && next !== asked) start(next);
      };
      setProgress(undefined);
      const onProgress = (done: number, of: number): void => {
        if (!controller.signal.aborted) setProgress({ done, of });
      };
      ask<T>(asked, { signal: controller.signal, isFinal, onProgress }).then(
        data => {
          ended(() => ({ url: asked, data, fault: undefined }));
          if (running.current === undefined && !controller.signal.aborted && !isFinal(data))
            again.current = setTimeout(() => start(asked), AGAIN_MS);
        },
        (error: unknown) => {
          const fault = error instanceof ApiFault ? error.message : String(error);
          ended(before => ({ url: asked, data: keepBefore ? before.data : undefined, fault }));
        },
      );
    },
    [keepBefore, isFinal],
  );
  useEffect(() => {
    const now = running.current;
    if (now !== undefined && url !== undefined && isSameButForMoment(now.url, url)) return;
    now?.controller.abort();
    clearTimeout(again.current);
    running.current = undefined;
    if (url !== undefined) start(url);
  }, [url, start]);
  useEffect(
    () => () => {
      running.current?.controller.abort();
      clearTimeout(again.current);
    },
    [],
  );
  if (url === undefined) return { data: undefined, fault: undefined, stale: false };
  if (state.url === url) return { data: state.data, fault: state.fault, stale: state.fault !== undefined };
  const now = known<T>(url);
  if (now !== undefined) return { data: now, fault: undefined, stale: false };
  return { data: keepBefore ? state.data : undefined, fault: undefined, stale: true, progress };
}

function isSameButForMoment(one: string, other: string): boolean {
  const place = (url: string): string => url.replace(/([?&])(at|to)=[0-9]+/g, '$1');
  return one !== other && place(one) === place(other);
}

interface Held<T> {
  readonly url: string | undefined;
  readonly data: T | undefined;
  readonly fault: string | undefined;
}
