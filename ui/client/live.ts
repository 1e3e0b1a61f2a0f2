// The newest event, as the server tells it. A page that is not visible, or a broken connection, catches up by asking
// for what came after the last event seen.

import { useEffect, useState } from 'preact/hooks';
import type { LiveBatch, Position } from '../../src/admin/explorer/api.ts';
import { urlOf } from './api-client.ts';

/** The head moves on screen at most this often. */
const REFRESH_MS_MIN = 1_000;

export interface Live {
  readonly head: Position;
  /** `broken`: the server does not answer, the browser tries again. */
  readonly connection: 'none' | 'open' | 'broken';
}

/** `follows` false: the head stays where it is (pause, or a journal file). */
export function useLive(start: Position, follows: boolean): Live {
  const [head, setHead] = useState(start);
  const [connection, setConnection] = useState<Live['connection']>('none');
  useEffect(() => {
    if (!follows) {
      setConnection('none');
      return undefined;
    }
    let newest = head;
    let shown = head.seq;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      shown = newest.seq;
      setHead(newest);
    };
    const source = new EventSource(urlOf('live', { after: head.seq }));
    source.onopen = () => setConnection('open');
    source.onerror = () => setConnection('broken');
    source.addEventListener('events', event => {
      newest = (JSON.parse((event as MessageEvent<string>).data) as LiveBatch).head;
      if (newest.seq > shown && timer === undefined) timer = setTimeout(show, REFRESH_MS_MIN);
    });
    return () => {
      source.close();
      clearTimeout(timer);
    };
    // The head is where the following begins; it does not begin again as the head moves.
  }, [follows]);
  return { head, connection };
}
