// Limits of name resolution. The time to live of an answer is kept within Istio's bounds (pilot/pkg/model/network.go):
// a short one would push too often.

/** Bounds of the time to live after which a name is queried again; failed and empty answers use the lower one. */
export const TTL_MS_MIN = 30_000;
export const TTL_MS_MAX = 3_600_000;
/** Timeout of one query to one server, and attempts for each server. */
export const QUERY_MS_MAX = 2_500;
export const QUERY_TRIES = 2;
/** Most names that are resolved; the first in name order. */
export const NAMES_MAX = 1_000;
/** Queries in flight. */
export const ASKED_AT_ONCE_MAX = 16;
/** Most addresses of one name; the first are used. */
export const ADDRESSES_MAX = 100;
