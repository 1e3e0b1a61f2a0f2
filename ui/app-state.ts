// What every view knows: where the reader is (the address), which moment that is, and how to go elsewhere.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Info, Position } from '../src/admin/explorer/api.ts';
import { formatHash, type ParamChanges, type Place, toView, type View, withParams } from './model/location.ts';

export interface AppState {
  readonly info: Info;
  readonly place: Place;
  /** The newest event that is shown. */
  readonly head: Position;
  /** The moment: the event after which everything on screen is. */
  readonly at: number;
  /** The moment follows the head. */
  readonly follows: boolean;
  /** The moment that `at` is compared with; undefined: none. */
  readonly from: number | undefined;
  readonly theme: 'light' | 'dark';
  readonly go: (place: Place, how?: 'push' | 'replace') => void;
}

export const AppContext = createContext<AppState | undefined>(undefined);

export function useApp(): AppState {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('no AppContext around this component');
  return app;
}

/** Links and moves that keep the moment. */
export function useGoing(): {
  readonly href: (view: View, subject?: string, params?: ParamChanges) => string;
  readonly to: (view: View, subject?: string, params?: ParamChanges) => void;
  readonly set: (params: ParamChanges, how?: 'push' | 'replace') => void;
  readonly param: (name: string) => string | undefined;
} {
  const { place, go } = useApp();
  return {
    href: (view, subject, params) => formatHash(toView(place, view, subject, params)),
    to: (view, subject, params) => go(toView(place, view, subject, params)),
    set: (params, how = 'replace') => go(withParams(place, params), how),
    param: name => place.params[name],
  };
}
