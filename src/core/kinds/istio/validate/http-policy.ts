// Faults, retries and CORS of an HTTP route. Source: Istio pkg/config/validation (validateHTTPFaultInjection,
// validateHTTPRetry, validateCORSPolicy).

import { GRPC_STATUSES } from '../../../base/grpc-status.ts';
import type { CorsPolicy, HTTPFaultInjection, HTTPRetry, Percent } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkDuration, checkWholeSeconds } from './durations.ts';
import { checkHeaderToken } from './headers.ts';
import { checkStringMatch } from './string-match.ts';

/** Envoy's retry policies, HTTP and gRPC. */
const RETRY_POLICIES: ReadonlySet<string> = new Set([
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'envoy-ratelimited',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
]);
const METHODS: ReadonlySet<string> = new Set([
  '*',
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
]);
const STATUSES: readonly (readonly [from: number, to: number])[] = [
  [100, 103],
  [200, 208],
  [226, 226],
  [300, 305],
  [307, 308],
  [400, 418],
  [421, 426],
  [428, 429],
  [431, 431],
  [451, 451],
  [500, 508],
  [510, 511],
];
/** Envoy counts shares in millionths. */
const PERCENT_MIN = 0.0001;

export function checkFault(fault: HTTPFaultInjection | undefined, path: string, report: Report): void {
  if (fault === undefined) return;
  const { abort, delay } = fault;
  if (abort === undefined && delay === undefined) report(path, 'does nothing: expected abort or delay');
  if (abort !== undefined) {
    const at = `${path}.abort`;
    checkPercentage(abort.percentage, `${at}.percentage`, report);
    if (abort.httpStatus !== undefined) checkStatus(abort.httpStatus, `${at}.httpStatus`, report);
    if (abort.grpcStatus !== undefined && !GRPC_STATUSES.includes(abort.grpcStatus)) {
      report(`${at}.grpcStatus`, `${quoted(abort.grpcStatus)} is not a status of gRPC, such as NOT_FOUND`);
    }
    if (abort.http2Error !== undefined) report(`${at}.http2Error`, 'is not supported');
  }
  if (delay !== undefined) {
    const at = `${path}.delay`;
    checkPercentage(delay.percentage, `${at}.percentage`, report);
    // The old field has no upper limit, in Istio and in Envoy.
    if ((delay.percent ?? 0) < 0) report(`${at}.percent`, `${delay.percent} is negative`);
    checkDuration(delay.fixedDelay, `${at}.fixedDelay`, report);
    if (delay.exponentialDelay !== undefined) report(`${at}.exponentialDelay`, 'is not supported; use fixedDelay');
  }
}

function checkPercentage(percentage: Percent | undefined, path: string, report: Report): void {
  const value = percentage?.value ?? 0;
  if (value !== 0 && !(value >= PERCENT_MIN && value <= 100)) {
    report(`${path}.value`, `${value} is not a percentage: expected 0, or from ${PERCENT_MIN} to 100`);
  }
}

export function checkStatus(status: number, path: string, report: Report): void {
  if (status < 200 || status > 600) report(path, `${status} is not a status of HTTP: expected 200 to 600`);
}

export function checkRetries(retries: HTTPRetry | undefined, path: string, report: Report): void {
  if (retries === undefined) return;
  const { attempts = 0, perTryTimeout, retryOn = '', retryRemoteLocalities, backoff } = retries;
  if (attempts < 0) report(`${path}.attempts`, `${attempts} is negative`);
  if (attempts === 0 && (perTryTimeout !== undefined || retryOn !== '' || retryRemoteLocalities !== undefined)) {
    report(`${path}.attempts`, 'is 0, which means no retries; yet there are settings for them');
  }
  checkDuration(perTryTimeout, `${path}.perTryTimeout`, report);
  checkDuration(backoff, `${path}.backoff`, report);
  for (const policy of retryOn === '' ? [] : retryOn.split(',')) checkRetryPolicy(policy, `${path}.retryOn`, report);
}

function checkRetryPolicy(policy: string, path: string, report: Report): void {
  if (RETRY_POLICIES.has(policy)) return;
  if (isRegistered(Number(/^\d{3}$/.test(policy) ? policy : 0))) return;
  report(path, `${quoted(policy)} is neither a retry policy of Envoy, such as 5xx, nor a status of HTTP`);
}

/** Is it in the list of the IANA, as far as Go knows it? */
function isRegistered(status: number): boolean {
  return STATUSES.some(([from, to]) => status >= from && status <= to);
}

export function checkCors(cors: CorsPolicy | undefined, path: string, report: Report): void {
  if (cors === undefined) return;
  (cors.allowOrigins ?? []).forEach((origin, i) => {
    const at = `${path}.allowOrigins[${i}]`;
    if (!origin.exact && !origin.prefix && !origin.regex) report(at, 'is empty; expected exact, prefix or regex');
    else checkStringMatch(origin, at, report);
  });
  (cors.allowMethods ?? []).forEach((method, i) => {
    if (METHODS.has(method)) return;
    report(
      `${path}.allowMethods[${i}]`,
      `${quoted(method)} is not a method: expected one of ${[...METHODS].join(', ')}`,
    );
  });
  for (const list of ['allowHeaders', 'exposeHeaders'] as const) {
    (cors[list] ?? []).forEach((name, i) => {
      if (name !== '*') checkHeaderToken(name, `${path}.${list}[${i}]`, report);
    });
  }
  checkWholeSeconds(cors.maxAge, `${path}.maxAge`, report);
}
