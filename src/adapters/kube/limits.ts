// Every limit of the Kubernetes adapter, with its reason. Times are milliseconds, sizes bytes.

/** Objects in one page of a list. If a page exceeds its limit, it is requested again with a quarter of the objects. */
export const PAGE_OBJECTS_MAX = 500;
/** One page of a list. The API server limits objects to about 1.5 MiB, so a page of a few objects always fits. */
export const PAGE_BYTES_MAX = 128 * 1024 * 1024;
/** One event of a watch: several times the largest object that etcd stores. */
export const WATCH_LINE_BYTES_MAX = 16 * 1024 * 1024;
/** Bytes read of an error answer. */
export const ERROR_BYTES_MAX = 64 * 1024;

/** Timeout of a list or another short request. */
export const REQUEST_MS_MAX = 60_000;
/** Timeout for the start of a watch. */
export const WATCH_START_MS_MAX = 30_000;
/**
 * The server is asked to end a watch after this time, up to twice of it at random, so that watches do not end together
 * (as in client-go).
 */
export const WATCH_MS_MIN = 5 * 60_000;
/** The server sends a bookmark about every minute: a watch that is silent for this long counts as dead. */
export const SILENCE_MS_MAX = 150_000;
/** After this many consecutive bookmarks older than the last seen version everything is listed again. */
export const BEHIND_MAX = 3;
/** A watch that ends sooner than this without an event counts as a failure. */
export const WATCH_SHORT_MS = 1_000;

/** First and longest wait between attempts. It doubles each time; up to half of it is subtracted at random. */
export const BACKOFF_MS_MIN = 500;
export const BACKOFF_MS_MAX = 30_000;
/** Longest Retry-After that is honoured. */
export const RETRY_AFTER_MS_MAX = 120_000;

/** Timeout of a write. */
export const WRITE_MS_MAX = 30_000;
/** The object that a write answers with. */
export const WRITE_ANSWER_BYTES_MAX = 16 * 1024 * 1024;
