// The HTTP status codes that Envoy has names for (envoy.type.v3.StatusCode).

const RANGES: readonly (readonly [number, number])[] = [
  [100, 100],
  [200, 208],
  [226, 226],
  [300, 305],
  [307, 308],
  [400, 417],
  [421, 424],
  [426, 426],
  [428, 429],
  [431, 431],
  [500, 508],
  [510, 511],
];

/** True for the decimal text of a code that Envoy knows; `0` means no status and is not one. */
export function isEnvoyStatus(text: string): boolean {
  if (!/^\d{1,3}$/.test(text)) return false;
  return RANGES.some(([from, to]) => Number(text) >= from && Number(text) <= to);
}
