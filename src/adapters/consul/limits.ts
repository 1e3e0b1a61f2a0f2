// Limits of reading a Consul agent or server.

/** How long a question may block; Consul adds up to a sixteenth of it. */
export const WAIT_MS = 5 * 60_000;
/** Bounds of an answer: a question that blocks, and one that does not. */
export const BLOCKING_MS_MAX = WAIT_MS + WAIT_MS / 16 + 10_000;
export const ANSWER_MS_MAX = 10_000;
/** After failures; doubles while failures follow one another. */
export const RETRY_MS_MIN = 1_000;
export const RETRY_MS_MAX = 60_000;
/** Bytes of one answer. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;
/** Services that are watched, each by one question; the first by name are. */
export const SERVICES_MAX = 5_000;
/** Questions at once that do not block. */
export const QUESTIONS_MAX = 16;
