// Which state is worth making next, while nothing is asked: the one in the middle of the longest way that a position
// may need. So the longest way is half as long after few states, wherever a question goes.
//
// Invariant: places are multiples of the checkpoints' spacing, and each way ends at one that has no state yet; so the
// number of states is bounded by the checkpoints, and the work ends.

/** What is folded at once, at most: some tenths of a second. */
export const PREPARED_EVENTS_MAX = 16_384;

export interface Ways {
  /** Positions that folding may start from; ascending. */
  readonly starts: readonly number[];
  readonly head: number;
  /** A state may be kept at its multiples. */
  readonly spacing: number;
  /** Events; ways up to this length are left as they are. */
  readonly longEnough: number;
}

export interface WayToPrepare {
  /** A start. */
  readonly from: number;
  /** Where a state is to be kept. */
  readonly to: number;
  /** The last position whose way begins at `from`. */
  readonly end: number;
}

/** The first of the longest ones. Undefined: all are short. */
export function longestWay({ starts, head, spacing, longEnough }: Ways): WayToPrepare | undefined {
  let longest: WayToPrepare | undefined;
  let most = Math.max(longEnough, spacing);
  for (const [i, from] of starts.entries()) {
    const end = (starts[i + 1] ?? head + 1) - 1;
    const events = end - from;
    if (events < most) continue;
    const half = Math.min(Math.ceil(events / 2), PREPARED_EVENTS_MAX);
    const to = Math.max(Math.floor((from + half) / spacing), Math.floor(from / spacing) + 1) * spacing;
    if (to > end) continue;
    [longest, most] = [{ from, to, end }, events + 1];
  }
  return longest;
}
