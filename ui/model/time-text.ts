// Times as text. A journal of one day shows clock times, a longer one dates too; all in UTC, as the commands print
// them, so that what is read here can be pasted after --at.

const DAY_MS = 86_400_000;

/** `10:12:00.117` */
export function clockTime(ms: number): string {
  return isTime(ms) ? new Date(ms).toISOString().slice(11, 23) : '–';
}

/** `2026-03-11` */
export function dateOf(ms: number): string {
  return isTime(ms) ? new Date(ms).toISOString().slice(0, 10) : '–';
}

/** `2026-03-11 10:12:00.117` */
export function fullTime(ms: number): string {
  return isTime(ms) ? `${dateOf(ms)} ${clockTime(ms)}` : '–';
}

/** `4 h 10 min`, `25 s`, `118 ms`: the two largest units. */
export function duration(ms: number): string {
  const units: readonly (readonly [number, string])[] = [
    [DAY_MS, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const whole = Math.abs(ms);
  for (const [i, [size, name]] of units.entries()) {
    if (whole < size) continue;
    const count = Math.floor(whole / size);
    const next = units[i + 1];
    const rest = next === undefined ? 0 : Math.floor((whole % size) / next[0]);
    return rest === 0 || next === undefined ? `${count} ${name}` : `${count} ${name} ${rest} ${next[1]}`;
  }
  return `${Math.round(whole)} ms`;
}

/** `1 event`, `12,345 events` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

export function grouped(count: number): string {
  return count.toLocaleString('en');
}

function isTime(ms: number): boolean {
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 && ms !== 0;
}
