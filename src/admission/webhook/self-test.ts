// The source `webhooks/<cluster>`: has the API server asked our validating webhook, and heard its answer? Tried by a
// dry run of an object that the webhook always refuses. Once it is refused, the webhooks of this revision may fail
// closed (ca-bundles.ts): before that, a webhook that cannot be reached would block every write of configuration.
//
// Passed once is passed for the process; a new process tries again. Nothing that is served waits for it.
// Source: Istio pkg/webhooks/validation/controller/controller.go (isDryRunOfInvalidConfigRejected).

import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapters/adapter.ts';
import { isObject, type Json } from '../../core/base/json.ts';
import { WRITES_API } from '../../core/kinds/periplus/writes.ts';
import type { State } from '../../core/state.ts';
import { VALIDATION_PROOF, waitsForProof } from '../wishes/ca-bundles.ts';

export interface SelfTestOptions {
  readonly cluster: string;
  readonly namespace: string;
  readonly revision: string;
  /** Never rejects; status 0: no answer. */
  readonly call: (
    method: 'POST',
    path: string,
    body: Json,
  ) => Promise<{ readonly status: number; readonly body: Json }>;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 60_000;
/** The server has no such kind, or cannot try: then there is nothing to fail closed for. */
const PASSED = /denied the request|could not find the requested resource|does not support dry run/;

export class SelfTest implements Adapter {
  readonly source: string;
  readonly #options: SelfTestOptions;
  #sink: Sink | undefined;
  #state: State | undefined;
  #timer: { cancel(): void } | undefined;
  #retryMs = RETRY_MS_MIN;
  #isTrying = false;
  #hasPassed = false;
  #isStopped = false;
  #trouble = '';

  constructor(options: SelfTestOptions) {
    this.#options = options;
    this.source = `webhooks/${options.cluster}`;
  }

  onState(state: State): void {
    this.#state = state;
    this.#consider();
  }

  async start(sink: Sink): Promise<void> {
    await sink.relistKinds(['WebhookProof'], []);
    this.#sink = sink;
    this.#consider();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: this.#trouble === '' ? [] : [this.#trouble], unreadable: [] };
  }

  #consider(): void {
    if (this.#sink === undefined || this.#state === undefined || this.#hasPassed || this.#isStopped) return;
    if (this.#isTrying || this.#timer !== undefined || !waitsForProof(this.#state)) return;
    this.#isTrying = true;
    void this.#try(this.#sink);
  }

  async #try(sink: Sink): Promise<void> {
    const { call, namespace, revision, log } = this.#options;
    const path = `/apis/networking.istio.io/v1/namespaces/${namespace}/gateways?dryRun=All`;
    const { status, body } = await call('POST', path, {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Gateway',
      metadata: {
        name: 'invalid-gateway',
        namespace,
        labels: { 'istio.io/rev': revision },
        annotations: { 'internal.istio.io/webhook-always-reject': 'true' },
      },
      spec: {},
    });
    this.#isTrying = false;
    if (this.#isStopped) return;
    const message = isObject(body) ? String(body.message ?? '') : String(body);
    if (PASSED.test(message)) {
      this.#hasPassed = true;
      this.#trouble = '';
      log('info', 'the API server reaches the validating webhook');
      const object = { apiVersion: WRITES_API, kind: 'WebhookProof', metadata: { name: VALIDATION_PROOF } };
      await sink.submit([{ kind: 'Add', object }]).catch((error: unknown) => log('warn', `webhooks: ${String(error)}`));
      return;
    }
    this.#trouble = `the API server does not ask the validating webhook (${status}): ${message}`;
    this.#timer = this.#options.after(this.#retryMs, () => {
      this.#timer = undefined;
      this.#consider();
    });
    this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
  }
}
