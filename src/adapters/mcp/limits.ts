// Limits of a client of another control plane's configuration.

/** Bytes of one answer: all objects of a kind. */
export const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
/** A kind that the server is silent about holds back readiness no longer. */
export const SILENT_MS_MAX = 30_000;
/** Between two streams; doubles while they end before an answer. */
export const RETRY_MS_MIN = 500;
export const RETRY_MS_MAX = 60_000;
/** A connection without traffic is pinged, and closed if there is no answer. */
export const KEEPALIVE_MS = 30_000;
export const KEEPALIVE_TIMEOUT_MS = 10_000;
/** Reasons that are kept of one answer. */
export const REASONS_MAX = 100;
