// Every number of the Kubernetes adapter, with where it comes from. Times are milliseconds, sizes bytes.

/** Objects asked for in one page of a list; a page that turns out too large is asked for again in quarters. */
export const PAGE_OBJECTS_MAX = 500;
/** One answer to a list. The API server keeps objects to about 1.5 MiB, so that a page of a few objects always fits. */
export const PAGE_BYTES_MAX = 128 * 1024 * 1024;
/** One event of a watch: an object at the largest that etcd takes, several times over. */
export const WATCH_LINE_BYTES_MAX = 16 * 1024 * 1024;
/** What is read of an answer that is an error. */
export const ERROR_BYTES_MAX = 64 * 1024;

/** How long an answer to a list or another short request may take. */
export const REQUEST_MS_MAX = 60_000;
/** How long the server may take to begin a watch. */
export const WATCH_START_MS_MAX = 30_000;
/** The server is asked to end a watch after this long, and up to twice that, so that watches do not end together (as client-go does). */
export const WATCH_MS_MIN = 5 * 60_000;
/** The server sends a bookmark about every minute: a watch that says nothing for this long is taken for dead. */
export const SILENCE_MS_MAX = 150_000;
/** Bookmarks in a row that lie before what was seen, after which everything is listed again. */
export const BEHIND_MAX = 3;
/** A watch that ends sooner than this, having said nothing, counts as a failure. */
export const WATCH_SHORT_MS = 1_000;

/** First and longest wait between attempts; doubled each time, and then up to half of it taken off at random. */
export const BACKOFF_MS_MIN = 500;
export const BACKOFF_MS_MAX = 30_000;
/** A server may ask for more patience than that (Retry-After), up to this. */
export const RETRY_AFTER_MS_MAX = 120_000;
