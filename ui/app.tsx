// The shell: header with the views, the strip of the whole journal, and the view itself. The moment (and the moment it
// is compared with) is chosen on the strip and holds for every view.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Info, Position } from '../src/admin/explorer/api.ts';
import { AppContext, type AppState } from './app-state.ts';
import { urlOf } from './client/api-client.ts';
import { useLive } from './client/live.ts';
import { applyTheme, chosenTheme, keepTheme, onSystemTheme, type Theme } from './client/theme.ts';
import { useAnswer } from './client/use-answer.ts';
import { usePlace } from './client/use-place.ts';
import { formatHash, numberOf, type Place, toView, VIEWS, type View, withParams } from './model/location.ts';
import { Help } from './parts/help.tsx';
import { useKeys } from './parts/keys.ts';
import { TimeStrip } from './parts/time-strip.tsx';
import { BisectView } from './views/bisect.tsx';
import { MeshView } from './views/mesh.tsx';
import { ObjectView } from './views/object.tsx';
import { ProxyView } from './views/proxy.tsx';
import { PushView } from './views/push.tsx';
import { TimelineView } from './views/timeline.tsx';
import { WhatIfView } from './views/what-if.tsx';

const TITLES: Readonly<Record<View, string>> = {
  timeline: 'Timeline',
  mesh: 'Mesh',
  proxy: 'Proxies',
  object: 'Objects',
  'what-if': 'Differences',
  push: 'Pushes',
  bisect: 'Find the cause',
};

const COMPONENTS: Readonly<Record<View, () => preact.JSX.Element>> = {
  timeline: TimelineView,
  mesh: MeshView,
  proxy: ProxyView,
  object: ObjectView,
  'what-if': WhatIfView,
  push: PushView,
  bisect: BisectView,
};

const isIndexed = ({ index }: Info): boolean => index.complete;

export function App() {
  const { data: info, fault } = useAnswer<Info>(urlOf('info'), true, isIndexed);
  if (fault !== undefined && info === undefined) return <p class="note danger">{fault}</p>;
  if (info === undefined) return <p class="empty busy">Opening the journal …</p>;
  return <Shell info={info} />;
}

function Shell({ info }: { readonly info: Info }) {
  const [place, go] = usePlace();
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [paused, setPaused] = useState(false);
  const live = useLive(info.head, info.mode === 'serve' && !paused);
  const at = useMoment(place, go, 'at');
  const from = useMoment(place, go, 'from');
  const { head } = live;
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => onSystemTheme(setTheme), []);
  const state = useMemo<AppState>(() => {
    const last = Math.min(at ?? head.seq, head.seq);
    return { info, place, head, at: last, follows: at === undefined, from, theme, go };
  }, [info, place, head, at, from, theme, go]);
  const [help, setHelp] = useState(false);
  useKeys({
    '?': () => setHelp(true),
    ...Object.fromEntries(VIEWS.map((view, i) => [String(i + 1), () => go(toView(place, view))])),
  });
  useEffect(() => {
    document.title = `${place.subject === '' ? TITLES[place.view] : place.subject} · Periplus`;
  }, [place]);
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the name of the view may be out of sight.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [place.view]);
  const View = COMPONENTS[place.view];
  const flip = (): void => {
    const next = theme === 'dark' ? 'light' : 'dark';
    keepTheme(next);
    setTheme(next);
  };
  return (
    <AppContext.Provider value={state}>
      <div class="app">
        <header class="top">
          <a class="name" href={formatHash(toView(place, 'timeline'))}>
            Periplus
          </a>
          <nav ref={nav} aria-label="Views">
            {VIEWS.map(view => (
              <a
                key={view}
                href={formatHash(toView(place, view))}
                aria-current={view === place.view ? 'page' : undefined}
              >
                {TITLES[view]}
              </a>
            ))}
          </nav>
          <span class="source clip" title={info.journal}>
            {fileName(info.journal)}
          </span>
          <div class="tools">
            {info.mode === 'serve' && (
              <button type="button" aria-pressed={!paused} onClick={() => setPaused(!paused)} title="Follow new events">
                {paused ? 'Paused' : live.connection === 'broken' ? 'Reconnecting …' : 'Live'}
              </button>
            )}
            <button
              type="button"
              onClick={flip}
              aria-label={`Switch to ${theme === 'dark' ? 'light' : 'dark'} colours`}
            >
              {theme === 'dark' ? 'Light' : 'Dark'}
            </button>
            <button type="button" onClick={() => setHelp(true)} aria-label="Help and keys">
              ?
            </button>
          </div>
        </header>
        <TimeStrip />
        <View key={place.view} />
      </div>
      <Help open={help} onClose={() => setHelp(false)} />
    </AppContext.Provider>
  );
}

/** The seq that a parameter names. Texts such as `10:20` or `head~3` are resolved, and the address then has the seq. */
function useMoment(place: Place, go: AppState['go'], name: 'at' | 'from'): number | undefined {
  const text = place.params[name];
  const seq = numberOf(text);
  const { data, fault } = useAnswer<Position>(
    text !== undefined && seq === undefined ? urlOf('position', { at: text }) : undefined,
  );
  useEffect(() => {
    if (text === undefined || seq !== undefined) return;
    if (data !== undefined) go(withParams(place, { [name]: String(data.seq) }), 'replace');
    else if (fault !== undefined) go(withParams(place, { [name]: undefined }), 'replace');
  }, [text, seq, data, fault, place, go, name]);
  return seq ?? data?.seq;
}

function fileName(path: string): string {
  return path.split('/').at(-1) ?? path;
}
