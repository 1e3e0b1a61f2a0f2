// The strip: how dense events are along the journal, what was pushed and refused, and the moment that every view
// shows. Click for a moment, drag for a range, wheel and keys to zoom.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Density, EventPage } from '../../src/admin/explorer/api.ts';
import { useApp, useGoing } from '../app-state.ts';
import { urlOf } from '../client/api-client.ts';
import { type KnownOutages, useOutages } from '../client/outages.ts';
import { useAnswer } from '../client/use-answer.ts';
import { splitNamed } from '../model/density-parts.ts';
import { filterQuery } from '../model/filters.ts';
import { toView } from '../model/location.ts';
import { lastSeqIn, panned, parseSpan, type Span, seqAt, shareOf, zoomed } from '../model/strip.ts';
import { clockTime, dateOf, duration } from '../model/time-text.ts';
import { DensityChart } from './density-chart.tsx';
import { useKeys } from './keys.ts';
import { LANES_PX, type LaneBucket, Lanes, OUTAGES_PX, outageNear, withOutages, wordsOf } from './strip-lanes.tsx';
import { StripLegend } from './strip-legend.tsx';
import { useWidth } from './use-width.ts';

/** Left of the plot: the names of the lanes. */
const NAMES_PX = 72;
const BAR_PX_MIN = 5;
const CHART_PX = 58;
const NARROW_PX = 600;
/** A shorter drag is a click. */
const DRAG_PX_MIN = 4;
const WHEEL_FACTOR = 1.25;
const isComplete = ({ index, verdicts }: Density): boolean => index.complete && verdicts.complete;

export function TimeStrip() {
  const { info, head, at, from, place } = useApp();
  const { set } = useGoing();
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const names = width < NARROW_PX ? 0 : NAMES_PX;
  const plot = Math.max(0, width - names);
  const whole: Span = { from: info.first.seq, to: head.seq };
  const by = place.params.by === 'seq' ? 'seq' : 'time';
  const shown = parseSpan(place.params.zoom) ?? whole;
  const buckets = Math.max(20, Math.min(400, Math.round(plot / BAR_PX_MIN / 20) * 20));
  const { split } = splitNamed(place.params.bars);
  const range = { from: shown.from, to: Math.min(shown.to, head.seq) };
  const url = urlOf('density', { by, buckets, ...range, split, ...filterQuery(place.params) });
  const { data: density } = useAnswer<Density>(plot === 0 ? undefined : url, true, isComplete);
  const known = useOutages(range);
  const show = (span: Span | undefined): void =>
    set({ zoom: span === undefined || covers(span, whole) ? undefined : `${span.from}-${span.to}` });
  const zoom = (factor: number, around = at): void => show(zoomed(shown, whole, around, factor));
  useKeys({
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => show(undefined),
    ArrowLeft: () => show(panned(shown, whole, -0.25)),
    ArrowRight: () => show(panned(shown, whole, 0.25)),
    '[': () => set({ at: String(Math.max(info.first.seq, at - 1)) }),
    ']': () => set({ at: at + 1 >= head.seq ? undefined : String(at + 1) }),
    n: () => set({ at: undefined }),
    r: () => set({ from: from === undefined ? String(at) : undefined }),
  });
  const share = density === undefined ? undefined : shareOf(density.buckets, at);
  const fromShare = density === undefined || from === undefined ? undefined : shareOf(density.buckets, from);
  return (
    <section class="strip" aria-label="The journal in time">
      <StripHead by={by} zoomedIn={place.params.zoom !== undefined} onWhole={() => show(undefined)} known={known} />
      <div class="strip-plot" ref={box}>
        {density !== undefined && (
          <Plot
            density={density}
            outages={known.outages}
            width={plot}
            left={names}
            onZoom={zoom}
            moment={share}
            from={fromShare}
          />
        )}
      </div>
      {density !== undefined && <StripLegend density={density} />}
    </section>
  );
}

interface PlotProps {
  readonly density: Density;
  readonly outages: KnownOutages['outages'];
  readonly width: number;
  readonly left: number;
  readonly moment: number | undefined;
  readonly from: number | undefined;
  readonly onZoom: (factor: number, around: number) => void;
}

function Plot({ density, outages, width, left, moment, from, onZoom }: PlotProps) {
  const { theme, head, place, go } = useApp();
  const { set } = useGoing();
  const area = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number }>();
  const [over, setOver] = useState<number>();
  const { buckets } = density;
  const lanes = useMemo(() => withOutages(buckets, outages), [buckets, outages]);
  const shareAt = (event: PointerEvent | WheelEvent): number =>
    (event.clientX - (area.current?.getBoundingClientRect().left ?? 0)) / width;
  useLayoutEffect(() => {
    const turned = (event: WheelEvent): void => {
      if (event.deltaY === 0) return;
      event.preventDefault();
      onZoom(event.deltaY > 0 ? WHEEL_FACTOR : 1 / WHEEL_FACTOR, seqAt(buckets, shareAt(event)) ?? 0);
    };
    const element = area.current;
    element?.addEventListener('wheel', turned, { passive: false });
    return () => element?.removeEventListener('wheel', turned);
  });
  const end = (event: PointerEvent): void => {
    if (drag === undefined) return;
    setDrag(undefined);
    const [start, stop] = [Math.min(drag.start, shareAt(event)), Math.max(drag.start, shareAt(event))];
    if ((stop - start) * width < DRAG_PX_MIN) {
      const top = area.current?.getBoundingClientRect().top ?? 0;
      const outage = event.clientY - top < CHART_PX + OUTAGES_PX ? undefined : outageNear(lanes, start, width);
      if (outage !== undefined) {
        const at = String(outage.seq);
        go(toView(place, 'timeline', '', { event: at, at, from: undefined }));
        return;
      }
      set({ at: momentOf(seqAt(buckets, start)), from: undefined }, 'push');
      return;
    }
    const [first, last] = [lastSeqIn(buckets, start), lastSeqIn(buckets, stop)];
    set({ from: first === undefined ? undefined : String(first), at: momentOf(last) }, 'push');
  };
  const momentOf = (seq: number | undefined): string | undefined =>
    seq === undefined || seq >= head.seq ? undefined : String(seq);
  const band = drag ?? (from === undefined || moment === undefined ? undefined : { start: from, end: moment });
  return (
    <>
      <DensityChart key={theme} density={density} width={width} left={left} height={CHART_PX} />
      <Lanes buckets={lanes} width={width} left={left} top={CHART_PX} />
      <div
        ref={area}
        class="strip-area"
        style={{ left: `${left}px`, width: `${width}px`, height: `${CHART_PX + LANES_PX}px` }}
        onPointerDown={event => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ start: shareAt(event), end: shareAt(event) });
        }}
        onPointerMove={event => {
          setOver(shareAt(event));
          if (drag !== undefined) setDrag({ ...drag, end: shareAt(event) });
        }}
        onPointerUp={end}
        onPointerCancel={() => setDrag(undefined)}
        onPointerLeave={() => setOver(undefined)}
      >
        {band !== undefined && <Band {...band} width={width} />}
        {moment !== undefined && moment >= 0 && moment <= 1 && (
          <div class="strip-moment" style={{ left: `${moment * width}px` }} />
        )}
      </div>
      {over !== undefined && <Hint buckets={lanes} names={density.parts} share={over} />}
    </>
  );
}

function Band({ start, end, width }: { readonly start: number; readonly end: number; readonly width: number }) {
  const [low, high] = [Math.max(0, Math.min(start, end)), Math.min(1, Math.max(start, end))];
  if (high < low) return null;
  return <div class="strip-band" style={{ left: `${low * width}px`, width: `${(high - low) * width}px` }} />;
}

interface HintProps {
  readonly buckets: readonly LaneBucket[];
  readonly names: readonly string[];
  readonly share: number;
}

/** What stands under the pointer, in words, beside the strip's title. */
function Hint({ buckets, names, share }: HintProps) {
  const bucket = buckets[Math.min(buckets.length - 1, Math.max(0, Math.floor(share * buckets.length)))];
  if (bucket === undefined) return null;
  return (
    <div class={`strip-hint ${share > 0.5 ? 'left' : 'right'}`}>
      {clockTime(bucket.fromTime)} {wordsOf(bucket, names)}
    </div>
  );
}

interface HeadProps {
  readonly by: 'seq' | 'time';
  readonly zoomedIn: boolean;
  readonly onWhole: () => void;
  readonly known: KnownOutages;
}

function StripHead({ by, zoomedIn, onWhole, known: { look, isLooking } }: HeadProps) {
  const { info, head, at, from, follows } = useApp();
  const { set } = useGoing();
  const time = useTimeOf(at);
  const fromTime = useTimeOf(from);
  return (
    <div class="strip-head">
      <span class="moment">
        {from !== undefined && (
          <>
            <span class="muted">from</span> #{from} {fromTime !== undefined && clockTime(fromTime)}{' '}
            <span class="muted">to</span>{' '}
          </>
        )}
        <strong>#{at}</strong> {time !== undefined && `${dateOf(time)} ${clockTime(time)}`}{' '}
        <span class="muted">
          {follows
            ? info.mode === 'serve'
              ? 'newest, following'
              : 'newest'
            : time === undefined
              ? ''
              : `${duration(head.time - time)} before the newest`}
        </span>
      </span>
      <button
        type="button"
        onClick={() => set({ at: String(Math.max(info.first.seq, at - 1)) })}
        aria-label="One event back"
      >
        ‹
      </button>
      <button
        type="button"
        disabled={at >= head.seq}
        onClick={() => set({ at: at + 1 >= head.seq ? undefined : String(at + 1) })}
        aria-label="One event on"
      >
        ›
      </button>
      {!follows && (
        <button type="button" onClick={() => set({ at: undefined })}>
          Newest
        </button>
      )}
      {from !== undefined && (
        <button type="button" onClick={() => set({ from: undefined })}>
          No comparison
        </button>
      )}
      <span class="spacer" />
      {look !== undefined && (
        <button type="button" onClick={look} disabled={isLooking}>
          {isLooking ? 'Looking …' : 'Look for outages'}
        </button>
      )}
      {zoomedIn && (
        <button type="button" onClick={onWhole}>
          Whole journal
        </button>
      )}
      <button type="button" onClick={() => set({ by: by === 'time' ? 'seq' : undefined })} class="wide-only">
        {by === 'time' ? 'by time' : 'by event'}
      </button>
    </div>
  );
}

/** The time of an event. */
function useTimeOf(seq: number | undefined): number | undefined {
  const { info, head } = useApp();
  const isKnown = seq === undefined || seq === head.seq || seq === info.first.seq;
  const { data, stale } = useAnswer<EventPage>(isKnown ? undefined : urlOf('events', { from: seq, to: seq, limit: 1 }));
  const [last, setLast] = useState<number>();
  const time = seq === head.seq ? head.time : seq === info.first.seq ? info.first.time : data?.rows[0]?.time;
  useEffect(() => {
    if (!stale) setLast(time);
  }, [time, stale]);
  return seq === undefined ? undefined : (time ?? last);
}

function covers(span: Span, whole: Span): boolean {
  return span.from <= whole.from && span.to >= whole.to;
}
