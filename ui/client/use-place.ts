// The address as state: the hash is read when it changes and written when the reader moves.

import { useCallback, useEffect, useState } from 'preact/hooks';
import { formatHash, type Place, parseHash } from '../model/location.ts';

export function usePlace(): readonly [Place, (place: Place, how?: 'push' | 'replace') => void] {
  const [place, setPlace] = useState(() => parseHash(location.hash));
  useEffect(() => {
    const changed = (): void => setPlace(parseHash(location.hash));
    addEventListener('hashchange', changed);
    addEventListener('popstate', changed);
    return () => {
      removeEventListener('hashchange', changed);
      removeEventListener('popstate', changed);
    };
  }, []);
  const go = useCallback((next: Place, how: 'push' | 'replace' = 'push'): void => {
    const hash = formatHash(next);
    if (hash === location.hash) return;
    if (how === 'push') history.pushState(undefined, '', hash);
    else history.replaceState(undefined, '', hash);
    setPlace(parseHash(hash));
  }, []);
  return [place, go];
}
