// RFC 3339 text to milliseconds, without the platform's clock or calendar (the core has neither). Gregorian, as Go's
// time.Parse reads it.

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MS_PER_DAY = 86_400_000;

/** Milliseconds since the epoch, fractions below are cut off; undefined when the text is not a time. */
export function parseTimestamp(text: string): number | undefined {
  return plainTimestamp(text) ?? anyTimestamp(text);
}

/** `2026-01-31T12:00:00Z`, as the API server writes it; undefined when there is more to look at. */
function plainTimestamp(text: string): number | undefined {
  if (text.length !== PLAIN.length) return undefined;
  for (let i = 0; i < PLAIN.length; i++) {
    const code = text.charCodeAt(i);
    const isDigit = code >= ZERO && code <= NINE;
    if (PLAIN.charCodeAt(i) === ZERO ? !isDigit : code !== PLAIN.charCodeAt(i)) return undefined;
  }
  const month = pair(text, 5);
  const day = pair(text, 8);
  const [hour, minute, second] = [pair(text, 11), pair(text, 14), pair(text, 17)];
  if (month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) return undefined;
  const days = daysSinceEpoch(pair(text, 0) * 100 + pair(text, 2), month, day);
  return days * MS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1000;
}

const PLAIN = '0000-00-00T00:00:00Z';
const ZERO = 0x30;
const NINE = 0x39;

function pair(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function anyTimestamp(text: string): number | undefined {
  const found = RFC3339.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMinutes = Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0);
  const offset = (found[8] === '-' ? -1 : 1) * offsetMinutes * 60_000;
  const ms = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3));
  return daysSinceEpoch(year, month, day) * MS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1000 + ms - offset;
}

function daysIn(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (DAYS_IN_MONTH[month - 1] ?? 0);
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Years are counted from March, so that the leap day is the last of a year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const fromMarch = (month + 9) % 12;
  const daysBeforeMonth = Math.floor((153 * fromMarch + 2) / 5);
  const daysBeforeYear =
    365 * shifted + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400);
  const DAYS_TO_EPOCH = 719_468;
  return daysBeforeYear + daysBeforeMonth + day - 1 - DAYS_TO_EPOCH;
}
