// Every limit of writing to a cluster, with its reason. Times are milliseconds.

/** Writes under way at once; further ones wait, each target once. */
export const WRITES_AT_ONCE_MAX = 8;
/** Wishes that are written; of further ones the log says that they are not. */
export const WISHES_MAX = 100_000;
/** A write that the watch does not show within this time is looked at again. */
export const SEEN_MS_MAX = 5_000;
/**
 * First and longest wait after a failure of one target. It doubles each time; up to half of it is subtracted at random.
 */
export const RETRY_MS_MIN = 100;
export const RETRY_MS_MAX = 60_000;
/** An applied wish that is undone this often within FLIP_WINDOW_MS has a second writer: it rests for FLIP_REST_MS. */
export const FLIPS_MAX = 5;
export const FLIP_WINDOW_MS = 60_000;
export const FLIP_REST_MS = 300_000;
/** Characters of a refusal's reason that are recorded. */
export const REASON_LENGTH_MAX = 500;

/** As istiod's (Istio pilot/pkg/leaderelection/leaderelection.go): a lease, after which others may take the lock. */
export const LEASE_MS = 30_000;
/** A holder that could not renew for this long writes no more. */
export const RENEW_MS_MAX = LEASE_MS / 2;
/** Between two attempts to renew or to take a lock; a candidate waits up to 1.2 times longer, at random. */
export const ELECTION_MS = LEASE_MS / 4;
export const ELECTION_JITTER = 1.2;
/** Timeout of a request for a lock. */
export const ELECTION_REQUEST_MS_MAX = 5_000;
