// The strip's geometry: which event stands where, and where the ticks are. Places are shares of the strip's width, 0 to
// 1; buckets are equally wide, whether they are made by time or by number of events.
//
// Invariant: seqAt(shareOf(seq)) is an event of the same bucket, and a place without events belongs to the event before
// it, since that one made the state there.

import type { Bucket, Density } from '../../src/admin/explorer/api.ts';

export interface Tick {
  readonly share: number;
  readonly text: string;
}

/** The last event at or before a place; undefined: none in the visible part. */
export function seqAt(buckets: readonly Bucket[], share: number): number | undefined {
  const place = Math.min(0.999_999, Math.max(0, share)) * buckets.length;
  const index = Math.floor(place);
  const bucket = buckets[index];
  if (bucket !== undefined && bucket.to >= bucket.from) {
    return bucket.from + Math.floor((place - index) * (bucket.to - bucket.from + 1));
  }
  return lastBefore(buckets, index) ?? buckets.find(({ from, to }) => to >= from)?.from;
}

/** The last event of the bucket at a place, or the last one before. */
export function lastSeqIn(buckets: readonly Bucket[], share: number): number | undefined {
  const index = Math.min(buckets.length - 1, Math.floor(Math.max(0, share) * buckets.length));
  const bucket = buckets[index];
  return bucket !== undefined && bucket.to >= bucket.from ? bucket.to : lastBefore(buckets, index);
}

function lastBefore(buckets: readonly Bucket[], index: number): number | undefined {
  for (let i = index - 1; i >= 0; i--) {
    const bucket = buckets[i];
    if (bucket !== undefined && bucket.to >= bucket.from) return bucket.to;
  }
  return undefined;
}

/** Where an event stands; below 0 or above 1: outside the visible part. */
export function shareOf(buckets: readonly Bucket[], seq: number): number {
  if (buckets.length === 0) return 0;
  let place: number | undefined;
  for (const [i, { from, to }] of buckets.entries()) {
    if (to < from) continue;
    if (seq < from) return place ?? -1;
    if (seq <= to) return (i + (seq - from + 0.5) / (to - from + 1)) / buckets.length;
    place = (i + 1) / buckets.length;
  }
  return 2;
}

const STEPS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000,
  604_800_000, 2_592_000_000,
];
const DAY_MS = 86_400_000;

/** About `count` ticks at round times or numbers. */
export function ticksOf({ by, from, to }: Density, count: number): readonly Tick[] {
  return by === 'time' ? timeTicks(from.time, to.time, count) : seqTicks(from.seq, to.seq, count);
}

function timeTicks(from: number, to: number, count: number): readonly Tick[] {
  if (to <= from) return [];
  const least = (to - from) / Math.max(1, count);
  const step = STEPS_MS.find(one => one >= least) ?? Math.ceil(least / DAY_MS) * DAY_MS;
  const ticks: Tick[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    ticks.push({ share: (time - from) / (to - from), text: tickTime(time, step) });
  }
  return ticks;
}

function tickTime(time: number, step: number): string {
  const text = new Date(time).toISOString();
  if (step >= DAY_MS) return text.slice(5, 10);
  if (step >= 60_000) return text.slice(11, 16);
  return step >= 1_000 ? text.slice(11, 19) : text.slice(11, 23);
}

function seqTicks(from: number, to: number, count: number): readonly Tick[] {
  if (to <= from) return [];
  const least = (to - from) / Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map(factor => factor * unit).find(one => one >= least) ?? unit * 10;
  const ticks: Tick[] = [];
  for (let seq = Math.ceil(from / step) * step; seq <= to; seq += step) {
    ticks.push({ share: (seq - from) / (to - from), text: `#${seq}` });
  }
  return ticks;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The visible part after zooming by `factor` (below 1: in) around an event; undefined: the whole journal. */
export function zoomed({ from, to }: Span, whole: Span, around: number, factor: number): Span | undefined {
  const width = Math.max(1, Math.round((to - from) * factor));
  if (width >= whole.to - whole.from) return undefined;
  const share = to === from ? 0.5 : (Math.min(to, Math.max(from, around)) - from) / (to - from);
  return within({ from: Math.round(around - share * width), to: Math.round(around - share * width) + width }, whole);
}

/** Moved by a share of its width, within the journal. */
export function panned({ from, to }: Span, whole: Span, share: number): Span {
  const by = Math.trunc((to - from) * share);
  return within({ from: from + by, to: to + by }, whole);
}

function within({ from, to }: Span, whole: Span): Span {
  const shift = from < whole.from ? whole.from - from : to > whole.to ? whole.to - to : 0;
  return { from: Math.max(whole.from, from + shift), to: Math.min(whole.to, to + shift) };
}

/** `17-112`, as the address has it. */
export function parseSpan(text: string | undefined): Span | undefined {
  const found = /^([0-9]{1,15})-([0-9]{1,15})$/.exec(text ?? '');
  if (found === null) return undefined;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return from < to ? { from, to } : undefined;
}
