// The webhooks as functions of a body and a path: what is answered, logged and counted. Sockets are server.ts's.
//
// Invariant: every request is answered; a fault of our own refuses the object instead of letting it pass. A log line
// names the pod, the decision and digests of request and answer, never an object's content.

import { createHash } from 'node:crypto';
import { isObject } from '../../core/base/json.ts';
import { untrackedReader } from '../../core/query/untracked.ts';
import type { State } from '../../core/state.ts';
import type { InjectorInForce } from '../inject/in-force.ts';
import { type Injection, inject } from '../inject/inject.ts';
import { shownPod } from '../inject/pod.ts';
import { envOfPath } from './path-env.ts';
import { type AdmissionAnswer, type AdmissionRequest, parseReview, reviewText } from './review.ts';
import { type Validation, validationOf } from './validation.ts';

export type WebhookLog = (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;

/** What is counted; names and labels are istiod's (webhook-metrics.ts). */
export interface WebhookCounts {
  injection(outcome: 'request' | 'success' | 'failure' | 'skip'): void;
  injectionSeconds(seconds: number): void;
  validation(request: AdmissionRequest | undefined, reason: string | undefined): void;
  httpError(status: number): void;
}

export interface WebhookParts {
  /** The newest folded state. */
  readonly state: () => State;
  readonly injector: InjectorInForce;
  readonly counts: WebhookCounts;
  readonly log: WebhookLog;
  /** For tests; default: inject.ts. */
  readonly injects?: typeof inject;
}

export class Webhooks {
  readonly #parts: WebhookParts;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  /** `path`: decoded. Never throws. */
  inject(body: string, path: string): string {
    const request = parseReview(body);
    if (typeof request === 'string') return reviewText(undefined, this.#injectionRefused('a body', request));
    return reviewText(request, this.#injectionOf(request, path, body));
  }

  validate(body: string): string {
    return this.validated(validationOf(body));
  }

  /** Counts and logs a validation that was made elsewhere, and returns the text of its answer. */
  validated({ text, counted, logged }: Validation): string {
    if (counted !== undefined) this.#parts.counts.validation(counted.request, counted.reason);
    if (logged !== undefined) this.#parts.log(logged.level, logged.message);
    return text;
  }

  #injectionOf(request: AdmissionRequest, path: string, body: string): AdmissionAnswer {
    const { state, injector, counts, log, injects = inject } = this.#parts;
    const { object, namespace } = request;
    if (!isObject(object)) return this.#injectionRefused('a body', 'could not decode object: expected a Pod');
    const pod = shownPod({ ...object, metadata: { namespace, ...(isObject(object.metadata) ? object.metadata : {}) } });
    let result: Injection;
    try {
      const now = state();
      result = injects(untrackedReader(now), { pod: object, namespace, env: envOfPath(path) }, injector.setup(now));
    } catch (error) {
      log('error', `injection of ${pod} failed: ${textOf(error)}`);
      return this.#injectionRefused(pod, 'internal error while injecting');
    }
    if (result.kind === 'skipped') {
      counts.injection('skip');
      log('info', `injection of ${pod}: skipped, ${result.why}`);
      return { allowed: true };
    }
    if (result.kind === 'refused') return this.#injectionRefused(pod, result.message);
    const digest = `request ${digestOf(body)} patch ${digestOf(JSON.stringify(result.patch))}`;
    log('info', `injection of ${pod}: ${result.patch.length} operations, ${digest}`);
    return { allowed: true, patch: result.patch };
  }

  #injectionRefused(pod: string, message: string): AdmissionAnswer {
    this.#parts.counts.injection('failure');
    this.#parts.log('error', `injection of ${pod} is refused: ${message}`);
    return { allowed: false, message };
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
