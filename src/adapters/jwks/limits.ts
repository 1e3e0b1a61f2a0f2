// Limits of fetching key sets. Times are istiod's (pilot/pkg/model/jwks_resolver.go), but each key set has a schedule
// of its own; istiod has no limit of size.

import { JWKS_CHARS_MAX } from '../../core/kinds/istio/validate/jwks.ts';

/** First attempts at a key set, a second apart, all within the time of one request. */
export const FIRST_TRIES = 8;
export const FIRST_TRY_PAUSE_MS = 1_000;
/** PILOT_JWT_PUB_KEY_REFRESH_INTERVAL, when unset. */
export const REFRESH_MS = 20 * 60_000;
/** After a failure; doubles while failures follow one another, up to the most. */
export const RETRY_MS_MIN = 60_000;
export const RETRY_MS_MAX = 60 * 60_000;
/** A key set that could not be fetched for so long is served no more. */
export const KEEP_MS = 7 * 24 * 60 * 60_000;
/** Bytes of one answer; as many as characters of a key set in a RequestAuthentication. */
export const BODY_BYTES_MAX = JWKS_CHARS_MAX;
export const REDIRECTS_MAX = 10;
/** Key sets that are fetched; the first by issuer and URI are. */
export const KEY_SETS_MAX = 1_000;
/** Key sets that are fetched at the same time. */
export const FETCHES_MAX = 16;
