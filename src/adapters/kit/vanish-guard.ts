// Most instances of a registry seldom leave within a minute; a registry that lost its members, or an agent that lost
// its servers, looks just like that. Such a loss is held back until it has lasted. Pure: the caller brings time and
// counts.

/** A loss of fewer instances is never held. */
export const LOSS_MIN = 10;

export interface VanishGuard {
  /** Losses that were let through within the last `holdMs`, oldest first. */
  readonly recent: readonly { readonly at: number; readonly lost: number }[];
}

export const noLosses: VanishGuard = { recent: [] };

/**
 * Whether `lost` of the instances are too many to believe at once, together with the recent losses. `left`: instances
 * that stay or are new.
 */
export function judgeLoss(
  guard: VanishGuard,
  {
    now,
    holdMs,
    lost,
    left,
  }: { readonly now: number; readonly holdMs: number; readonly lost: number; readonly left: number },
): { readonly isHeld: boolean; readonly guard: VanishGuard } {
  const recent = guard.recent.filter(({ at }) => at > now - holdMs);
  const losses = recent.reduce((sum, one) => sum + one.lost, lost);
  const isHeld = lost > 0 && holdMs > 0 && losses >= LOSS_MIN && losses > left;
  return { isHeld, guard: { recent: isHeld || lost === 0 ? recent : [...recent, { at: now, lost }] } };
}
