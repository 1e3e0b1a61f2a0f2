// What is counted of writes to webhook configurations, under istiod's names: roots that are put into those of injection
// (Istio pkg/webhooks/monitoring.go), roots and policy of those of validation (pkg/webhooks/validation/controller).

import { Counter, type Registry } from 'prom-client';

const RETRY_WORD = 'Conflict';

export class WebhookWrites {
  readonly #attempts: Counter<'name'>;
  readonly #retries: Counter<'name'>;
  readonly #failures: Counter<'name' | 'reason'>;
  readonly #updates: Counter;
  readonly #updateErrors: Counter<'reason'>;

  constructor(registry: Registry) {
    const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
      new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
    this.#attempts = counter('webhook_patch_attempts_total', 'Writes of roots into webhooks of injection.', ['name']);
    this.#retries = counter('webhook_patch_retries_total', 'Such writes that are tried again.', ['name']);
    this.#failures = counter('webhook_patch_failures_total', 'Such writes that were refused.', ['name', 'reason']);
    this.#updates = counter('galley_validation_config_updates', 'Writes to configurations of validation.', []);
    this.#updateErrors = counter('galley_validation_config_update_error', 'Such writes that were refused.', ['reason']);
  }

  /** `reason`: the server's word for a refusal; undefined: it was written. Other kinds are not counted. */
  count(kind: string, name: string, reason: string | undefined): void {
    if (kind === 'MutatingWebhookConfiguration') {
      this.#attempts.inc({ name });
      if (reason === undefined) return;
      this.#retries.inc({ name });
      if (reason !== RETRY_WORD) this.#failures.inc({ name, reason: 'webhook_update_failure' });
    } else if (kind === 'ValidatingWebhookConfiguration') {
      if (reason === undefined) this.#updates.inc();
      else this.#updateErrors.inc({ reason });
    }
  }
}
