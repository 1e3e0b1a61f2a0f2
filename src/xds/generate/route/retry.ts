// Retry policies of routes, from a rule's `retries`, else from the mesh's default, else Istio's own.
// Source: Istio pilot/pkg/networking/core/route/retry/retry.go.

import type { HTTPRetry } from '../../../core/schema/istio-types.gen.ts';
import { any } from '../../proto/any.ts';
import type { RetryPolicy, RetryPolicy_RetryHostPredicate } from '../../proto/types.gen.ts';
import { lastOf } from '../common/last.ts';

const ATTEMPTS_DEFAULT = 2;
const RETRY_ON_DEFAULT = 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';
const RETRIABLE_STATUS_CODES = 'retriable-status-codes';
/** Attempts to select a host that was not tried before. */
const HOST_SELECTION_ATTEMPTS = 5;
/** Priorities are chosen anew after this many attempts. */
const PRIORITY_UPDATE_FREQUENCY = 2;

const previousHosts: RetryPolicy_RetryHostPredicate = {
  name: 'envoy.retry_host_predicates.previous_hosts',
  typedConfig: any('envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate', {}),
};

/**
 * `hashed`: the destination is chosen by a hash, so that retrying on other hosts would defeat it. undefined: no
 * retries.
 */
export const retryPolicy = lastOf((retries: HTTPRetry | undefined, hashed: boolean): RetryPolicy | undefined => {
  if (retries === undefined) return defaultPolicy(hashed);
  const attempts = retries.attempts ?? 0;
  if (attempts <= 0) return undefined;
  const ignorePrevious = retries.retryIgnorePreviousHosts ?? !hashed;
  return {
    ...retryOn(retries.retryOn ?? ''),
    numRetries: { value: attempts },
    perTryTimeout: retries.perTryTimeout,
    retryPriority: retries.retryRemoteLocalities === true ? previousPriorities : undefined,
    retryHostPredicate: ignorePrevious ? [previousHosts] : undefined,
    hostSelectionRetryMaxAttempts: HOST_SELECTION_ATTEMPTS,
    retryBackOff: retries.backoff === undefined ? undefined : { baseInterval: retries.backoff },
  };
});

const previousPriorities = {
  name: 'envoy.retry_priorities.previous_priorities',
  typedConfig: any('envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig', {
    updateFrequency: PRIORITY_UPDATE_FREQUENCY,
  }),
};

function defaultPolicy(hashed: boolean): RetryPolicy {
  return {
    retryOn: RETRY_ON_DEFAULT,
    numRetries: { value: ATTEMPTS_DEFAULT },
    ...(hashed ? {} : { retryHostPredicate: [previousHosts] }),
    hostSelectionRetryMaxAttempts: HOST_SELECTION_ATTEMPTS,
  };
}

/** A list of conditions in which a status code may stand by its number. */
function retryOn(text: string): Pick<RetryPolicy, 'retryOn' | 'retriableStatusCodes'> {
  if (text === '') return { retryOn: RETRY_ON_DEFAULT };
  const named: string[] = [];
  const retriableStatusCodes: number[] = [];
  for (const part of text.split(',')) {
    const item = part.trim();
    const code = statusCodes.get(item);
    if (code !== undefined) retriableStatusCodes.push(code);
    else if (item !== '') named.push(item);
  }
  let conditions = named.join(',');
  if (retriableStatusCodes.length === 0) return { retryOn: conditions };
  if (!conditions.includes(RETRIABLE_STATUS_CODES)) conditions += `,${RETRIABLE_STATUS_CODES}`;
  return { retryOn: conditions, retriableStatusCodes };
}

/** By their text. The registered codes that Go's net/http knows; others stay in the text. */
const statusCodes: ReadonlyMap<string, number> = new Map(
  [
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307, 308, 400,
    401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425,
    426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511,
  ].map(code => [String(code), code]),
);
