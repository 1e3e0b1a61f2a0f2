// Limits of resolving names. The life of an answer is kept within Istio's bounds (pilot/pkg/model/network.go): a short one would push too often.

/** An answer is asked for again after as long as it says it lives, within these; one that failed or is empty after the least. */
export const TTL_MS_MIN = 30_000;
export const TTL_MS_MAX = 3_600_000;
/** Of one question to one server; each server is asked so often. */
export const QUERY_MS_MAX = 2_500;
export const QUERY_TRIES = 2;
/** Names that are resolved; the first by name are. */
export const NAMES_MAX = 1_000;
/** Names asked for at the same time. */
export const ASKED_AT_ONCE_MAX = 16;
/** Addresses of one name; the first are taken. */
export const ADDRESSES_MAX = 100;
