// Shares as text.

/** `80 %`, `0.5 %`; of 0 … 1. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 1 || value === 0 ? Math.round(value * 10) / 10 : Number(value.toPrecision(2))} %`;
}
