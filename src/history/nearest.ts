// The names nearest to one that does not exist, for messages: those that contain it, then those a few letters away.
//
// Invariant: only names that a reader would recognize are offered; of a wholly different word, none.

/** Letters that a word must have for names that contain it to be meant. */
const CONTAINED_MIN = 3;
/** Letters by which a name may differ. */
const DISTANCE_MAX = 3;
const FAR = Number.POSITIVE_INFINITY;
const PARTED_BY = /[|/.:]/;
/** Names that a message offers. */
const OFFERED_MAX = 5;
/** Names that are compared letter by letter: the cost is their number times a name's length. */
const COMPARED_MAX = 2_000;

export function nearestNames(wanted: string, names: Iterable<string>): readonly string[] {
  const word = wanted.toLowerCase();
  if (word === '') return [];
  const all = [...new Set(names)].sort();
  const containing = word.length < CONTAINED_MIN ? [] : all.filter(name => name.toLowerCase().includes(word));
  const close = all
    .slice(0, COMPARED_MAX)
    .filter(name => !containing.includes(name))
    .map(name => ({ name, distance: distanceTo(word, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.min(DISTANCE_MAX, Math.floor(word.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  const short = [...containing].sort((a, b) => a.length - b.length);
  return [...short, ...close.map(({ name }) => name)].slice(0, OFFERED_MAX);
}

/** `; nearest: a, b`, or nothing. */
export function nearestText(wanted: string, names: Iterable<string>): string {
  const found = nearestNames(wanted, names);
  return found.length === 0 ? '' : `; nearest: ${found.join(', ')}`;
}

/** To the name, its beginning or one of its parts: people write `revews` for `outbound|9080||reviews.shop.svc…`. */
function distanceTo(word: string, name: string): number {
  const parts = name.split(PARTED_BY).filter(part => Math.abs(part.length - word.length) <= DISTANCE_MAX);
  const forms = [name, name.slice(0, word.length), ...parts];
  return Math.min(...[...new Set(forms)].map(form => editDistance(word, form)));
}

/** Levenshtein's; past DISTANCE_MAX some larger number. Cells further than that from the diagonal are not looked at. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > DISTANCE_MAX) return FAR;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  let next = row.slice();
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - DISTANCE_MAX);
    const last = Math.min(b.length, i + DISTANCE_MAX);
    next[first - 1] = first === 1 ? i : FAR;
    let least = next[first - 1]!;
    for (let j = first; j <= last; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const above = j === i + DISTANCE_MAX ? FAR : row[j]!;
      next[j] = Math.min(replaced, above + 1, next[j - 1]! + 1);
      least = Math.min(least, next[j]!);
    }
    if (least > DISTANCE_MAX) return FAR;
    [row, next] = [next, row];
  }
  return row[b.length]!;
}
