// Metrics of the webhooks under istiod's names. Source: Istio pkg/kube/inject/monitoring.go,
// pkg/webhooks/validation/server/monitoring.go.

import { Counter, Histogram, type Registry } from 'prom-client';
import type { AdmissionRequest } from './review.ts';
import type { WebhookCounts } from './webhooks.ts';

const INJECTION_SECONDS = [0.1, 1, 3, 5, 10, 20, 30, 60];

export function webhookMetrics(registry: Registry): WebhookCounts {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  const outcomes = {
    request: counter('sidecar_injection_requests_total', 'Requests for injection.'),
    success: counter('sidecar_injection_success_total', 'Requests for injection that were answered.'),
    failure: counter('sidecar_injection_failure_total', 'Requests for injection that failed or were refused.'),
    skip: counter('sidecar_injection_skip_total', 'Pods that were not to be injected.'),
  };
  const seconds = new Histogram({
    name: 'sidecar_injection_time_seconds',
    help: 'Seconds from a request for injection to its answer.',
    buckets: INJECTION_SECONDS,
    registers: [registry],
  });
  const of = ['group', 'version', 'resource'] as const;
  const passed = counter('galley_validation_passed', 'Objects that passed validation.', of);
  const failed = counter('galley_validation_failed', 'Objects that validation refused.', [...of, 'reason']);
  const http = counter('galley_validation_http_error', 'Validation requests that were no reviews.', ['status']);
  return {
    injection: outcome => outcomes[outcome].inc(),
    injectionSeconds: value => seconds.observe(value),
    validation: (request, reason) => {
      const labels = labelsOf(request);
      if (reason === undefined) passed.inc(labels);
      else failed.inc({ ...labels, reason });
    },
    httpError: status => http.inc({ status: String(status) }),
  };
}

function labelsOf(request: AdmissionRequest | undefined) {
  return { group: request?.group ?? '', version: request?.version ?? '', resource: request?.resource ?? '' };
}
