// Every limit of registration, with its reason.

/** Machines that are registered at a time; of further ones the log says that they are not. */
export const MACHINES_MAX = 10_000;
/** Characters of a failed probe's message that are kept. */
export const HEALTH_CHARS_MAX = 500;
/** In grace periods: how often entries that others left are looked for, and how long a start waits for machines. */
export const SWEEP_GRACES = 10;
/** Entries of others that one sweep removes. */
export const SWEPT_MAX = 200;
/** In maximum connection ages: a machine that was last heard of longer ago is not connected anywhere. */
export const STALE_AGES = 1.5;
