// Every event of the journal: facets to filter by, the list, and the chosen event in full.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventRow } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { useEventRows } from '../client/event-rows.ts';
import { rowOf } from '../model/event-index.ts';
import { FILTERS, filterQuery } from '../model/filters.ts';
import { numberOf } from '../model/location.ts';
import { clockTime, counted, grouped } from '../model/time-text.ts';
import { useKeys } from '../parts/keys.ts';
import { VirtualList } from '../parts/virtual-list.tsx';
import { EventPanel } from './event-panel.tsx';
import { Facets } from './facets.tsx';

const ROW_PX = 26;
const SEARCH_DELAY_MS = 250;

export function TimelineView() {
  const { info, head, at, follows, place } = useApp();
  const { set } = useGoing();
  const search = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const chosenSeq = numberOf(place.params.event);
  const rows = useEventRows(filterQuery(place.params), info.first.seq, head.seq);
  const { total, rowAt, segments } = rows;
  const seen = follows && chosenSeq === undefined ? -1 : rowOf(segments, chosenSeq ?? at);
  useKeys({ '/': () => search.current?.focus() });
  // A row that is not loaded yet is chosen once it is.
  const [awaited, setAwaited] = useState<number>();
  const choose = (row: number): void => {
    const event = rowAt(row);
    setAwaited(event === undefined ? row : undefined);
    if (event !== undefined) set({ event: String(event.seq), at: String(event.seq) });
  };
  const chosen = awaited ?? seen;
  const awaitedSeq = awaited === undefined ? undefined : rowAt(awaited)?.seq;
  useEffect(() => {
    if (awaited !== undefined && awaitedSeq !== undefined) choose(awaited);
  }, [awaited, awaitedSeq]);
  return (
    <main class={`view columns timeline ${chosenSeq === undefined ? '' : 'with-event'}`}>
      <Facets />
      <section class="event-list" aria-label="Events">
        <div class="bar list-head">
          <input
            ref={search}
            class="grow"
            type="search"
            placeholder="Words in the event, such as reviews helm"
            aria-label="Search events"
            defaultValue={place.params.q ?? ''}
            onInput={event => {
              const { value } = event.currentTarget;
              clearTimeout(timer.current);
              timer.current = setTimeout(() => set({ q: value.trim() }), SEARCH_DELAY_MS);
            }}
          />
          <span class="muted" role="status">
            {rows.complete ? '' : 'counting … '}
            {total === info.events || !isFiltered(place.params)
              ? counted(total, 'event')
              : `${grouped(total)} of ${counted(head.seq - info.first.seq + 1, 'event')}`}
          </span>
          {isFiltered(place.params) && (
            <button type="button" onClick={() => clearFilters(set, search.current)}>
              Clear
            </button>
          )}
        </div>
        {rows.fault !== undefined && <p class="note danger">{rows.fault}</p>}
        {total === 0 && rows.complete ? (
          <p class="empty">No event passes the filter.</p>
        ) : (
          <VirtualList
            label="Events"
            rows={total}
            rowPx={ROW_PX}
            chosen={chosen}
            sticky={follows && chosenSeq === undefined}
            onWindow={rows.onWindow}
            onChoose={choose}
            draw={row => (
              <Row
                key={row}
                row={row}
                event={rowAt(row)}
                chosen={row === chosen && rowAt(row)?.seq === (chosenSeq ?? at)}
                later={(rowAt(row)?.seq ?? 0) > at}
                onChoose={choose}
              />
            )}
          />
        )}
      </section>
      <aside class="detail" aria-label="Chosen event">
        {chosenSeq === undefined ? <Hints /> : <EventPanel seq={chosenSeq} />}
      </aside>
    </main>
  );
}

function isFiltered(params: Readonly<Record<string, string>>): boolean {
  return FILTERS.some(name => params[name] !== undefined);
}

function clearFilters(set: ReturnType<typeof useGoing>['set'], search: HTMLInputElement | null): void {
  if (search !== null) search.value = '';
  set(Object.fromEntries(FILTERS.map(name => [name, undefined])));
}

function Hints() {
  const { from, at } = useApp();
  const { href } = useGoing();
  return (
    <div class="page">
      {from !== undefined && (
        <p class="note">
          Range #{from} to #{at}: <a href={href('what-if')}>what differs for proxies</a>,{' '}
          <a href={href('bisect', '', { run: 'incident' })}>what broke in it</a>.
        </p>
      )}
      <p class="muted">Choose an event to see what it says, what it changed and which pushes it caused.</p>
      <p class="muted">
        Something is broken? <a href={href('bisect')}>Find the cause</a> looks for the event after which it was.
      </p>
    </div>
  );
}

interface RowProps {
  readonly row: number;
  readonly event: EventRow | undefined;
  readonly chosen: boolean;
  readonly later: boolean;
  readonly onChoose: (row: number) => void;
}

const BAD: ReadonlySet<string> = new Set(['ProxyNacked', 'Malformed', 'Rejected', 'Gap']);

function Row({ row, event, chosen, later, onChoose }: RowProps) {
  if (event === undefined) return <div class="row event-row muted" />;
  const { seq, time, kind, manager, object, summary, refused } = event;
  const tone = BAD.has(kind) || refused ? 'danger' : object === '' ? 'muted' : '';
  return (
    <div
      id={`row-${row}`}
      role="option"
      tabIndex={-1}
      aria-selected={chosen}
      class={`row event-row ${later ? 'later' : ''}`}
      onClick={() => onChoose(row)}
      onKeyDown={event => event.key === 'Enter' && onChoose(row)}
    >
      <span class="mono muted seq">{seq}</span>
      <span class="mono">
        {clockTime(time).slice(0, 8)}
        <span class="wide-only">{clockTime(time).slice(8)}</span>
      </span>
      <span class={tone}>
        {kind}
        {refused && ' ✕ refused'}
      </span>
      <span class={`mono ${tone}`} title={summary}>
        {object === '' ? summary : <ObjectText object={object} />}
      </span>
      <span class="muted wide-only">{manager}</span>
    </div>
  );
}

function ObjectText({ object }: { readonly object: string }) {
  const [kind = '', namespace = '', ...name] = object.split('/');
  return (
    <>
      <span class="muted">{kind}</span> {namespace === '' ? '' : `${namespace}/`}
      {name.join('/')}
    </>
  );
}
