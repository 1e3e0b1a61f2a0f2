// A span of time as protobuf holds it, and the text form that Istio accepts: Go's (time.ParseDuration), of which
// protojson's "1.5s" is a part. golang/protobuf jsonpb, with which istiod reads its kinds, parses durations that way;
// users write "1m" and "100ms" and rely on it.

/** Seconds and nanoseconds have the same sign; |nanos| < 1e9. */
export interface Duration {
  readonly seconds: number;
  readonly nanos: number;
}

const NANOS_PER_SECOND = 1_000_000_000n;
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', NANOS_PER_SECOND],
  ['m', 60n * NANOS_PER_SECOND],
  ['h', 3600n * NANOS_PER_SECOND],
]);
/** Go's durations are 64-bit counts of nanoseconds: about 292 years. */
const NANOS_MAX = 2n ** 63n - 1n;
/** More digits than this only make work; Go's range needs 19. */
const TEXT_LENGTH_MAX = 100;
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** As most are written: small enough to be counted in numbers. */
const PLAIN = /^(\d{1,6})(ms|s|m|h)$/;

function plainDuration(count: number, unit: string): Duration {
  if (unit === 'ms') return { seconds: Math.floor(count / 1000), nanos: (count % 1000) * 1_000_000 };
  return { seconds: count * (unit === 'h' ? 3600 : unit === 'm' ? 60 : 1), nanos: 0 };
}

/** `undefined`: not a duration, or out of range. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  const plain = PLAIN.exec(text);
  if (plain !== null) return plainDuration(Number(plain[1]), plain[2] ?? '');
  const negative = text.startsWith('-');
  const start = negative || text.startsWith('+') ? 1 : 0;
  if (text.slice(start) === '0') return { seconds: 0, nanos: 0 };
  if (start === text.length) return undefined;
  let total = 0n;
  PART.lastIndex = start;
  for (let at = start; at < text.length; at = PART.lastIndex) {
    const part = PART.exec(text);
    if (part === null) return undefined;
    const [, whole = '', fraction = '', unit = ''] = part;
    if (whole === '' && fraction === '') return undefined;
    const scale = UNITS.get(unit) ?? 0n;
    total += BigInt(whole === '' ? '0' : whole) * scale;
    if (fraction !== '') total += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
    if (total > NANOS_MAX) return undefined;
  }
  const sign = negative ? -1 : 1;
  const seconds = Number(total / NANOS_PER_SECOND);
  const nanos = Number(total % NANOS_PER_SECOND);
  return { seconds: seconds === 0 ? 0 : sign * seconds, nanos: nanos === 0 ? 0 : sign * nanos };
}
