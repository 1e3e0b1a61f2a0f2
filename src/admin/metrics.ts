// Prometheus metrics by istiod's names (pilot/pkg/xds/monitoring.go, pilot/pkg/model/push_context.go), and our own
// counters beside them.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Effect } from '../core/effect.ts';
import type { Event } from '../core/event.ts';
import { isNoPush, type PushRequest } from '../core/push-request.ts';
import type { XdsObservation } from '../xds/serve/host.ts';
import { rulesOf } from '../xds/session/types.ts';
import { LoopTurns } from './loop-turns.ts';
import { type CountCell, CountTally, type HistogramCell, HistogramTally } from './tallies.ts';
import { VERSION } from './version.ts';

const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 3, 5, 10, 20, 30];
/** istiod's, of the metric that counts the same. */
const CONTEXT_SECONDS = [0.01, 0.1, 0.5, 1, 3, 5];
/** Of prom-client's own watch of the event loop, the longest that it takes: its gauges are replaced by ours. */
const UNUSED_PRECISION_MS = 2 ** 31 - 1;
/** What istiod's registry reads; everything else is its configuration. */
const REGISTRY: ReadonlySet<string> = new Set(['Service', 'EndpointSlice', 'Pod', 'Node', 'Namespace']);
const BYTES = [1, 1e4, 1e6, 4e6, 1e7, 4e7];

/** Of one type of resource. */
interface SentCells {
  readonly pushes: CountCell;
  readonly size: HistogramCell;
  readonly pushTime: HistogramCell;
}

/** Types of resources with series of their own. */
export const TYPES_MAX = 100;

export class Metrics {
  readonly registry = new Registry();
  readonly #pushes = new CountTally({
    registry: this.registry,
    name: 'pilot_xds_pushes',
    help: 'Responses sent, by type.',
  });
  readonly #triggers = this.#counter('pilot_push_triggers', 'Pushes by what triggered them.', ['type']);
  readonly #pushedConfigs = this.#counter(
    'periplus_push_configs',
    'Configurations that pushes were requested for, by kind. A service counts as ServiceEntry, as in istiod.',
    ['type'],
  );
  readonly #rejects = this.#counter('pilot_total_xds_rejects', 'Responses that proxies refused, by type.', ['type']);
  readonly #expired = this.#counter(
    'pilot_xds_expired_nonce',
    'Answers to responses that were no longer the last one.',
    ['type'],
  );
  readonly #timeouts = this.#counter(
    'pilot_xds_write_timeout',
    'Responses that took longer to write than a slot is held.',
    [],
  );
  readonly #errors = this.#counter(
    'pilot_total_xds_internal_errors',
    'Failures of our own while serving a stream.',
    [],
  );
  readonly #debounce = this.#seconds('pilot_debounce_time', 'Seconds a push request waited for company.');
  readonly #convergence = this.#seconds(
    'pilot_proxy_convergence_time',
    'Seconds from the start of a push to a proxy to its end.',
  );
  readonly #queue = this.#seconds(
    'pilot_proxy_queue_time',
    'Seconds from the release of a push to its start at a proxy.',
  );
  readonly #pushTime = this.#histogram(
    'pilot_xds_push_time',
    'Seconds from when a response is due to when it is written, by type.',
    SECONDS,
  );
  readonly #sendTime = this.#seconds('pilot_xds_send_time', 'Seconds that the write of a response takes.');
  readonly #contextInit = this.#histogram(
    'pilot_pushcontext_init_seconds',
    'Seconds from changes that are recorded to the state that their push is made from.',
    CONTEXT_SECONDS,
  ).of();
  readonly #refused = this.#counter(
    'pilot_total_rejected_configs',
    'Verdicts by which an object was refused, by its kind.',
    ['type'],
  );
  readonly #inbound = this.#counter('pilot_inbound_updates', 'Changes that came in, by what they are of.', ['type']);
  readonly #configEvents = this.#counter('pilot_k8s_cfg_events', 'Changes of configuration.', ['type', 'event']);
  readonly #registryEvents = this.#counter('pilot_k8s_reg_events', 'Changes of the registry.', ['type', 'event']);
  readonly #jwksSuccess = this.#counter('pilot_jwks_resolver_network_fetch_success_total', 'Key sets fetched.', []);
  readonly #jwksFail = this.#counter(
    'pilot_jwks_resolver_network_fetch_fail_total',
    'Key sets that could not be fetched.',
    [],
  );
  readonly #size = this.#histogram('pilot_xds_config_size_bytes', 'Bytes of a response, by type.', BYTES);
  readonly #sent = new Map<string, SentCells>();
  readonly #types = new Set<string>();

  readonly #rejectsOf: ReadonlyMap<string, Counter> = new Map(
    ['cds', 'eds', 'lds', 'rds'].map(type => [
      type,
      this.#counter(`pilot_xds_${type}_reject`, `Responses of ${type.toUpperCase()} that proxies refused.`, []),
    ]),
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: UNUSED_PRECISION_MS });
    this.#constant('pilot_info', 'Version of the control plane.', { version: VERSION });
    this.#constant('istio_build', 'Build of the component.', { component: 'pilot', tag: VERSION });
    this.#heap();
    const started = performance.now();
    this.gauge('istiod_uptime_seconds', 'Seconds since the start.', () => (performance.now() - started) / 1_000);
    this.#turns();
  }

  #turns(): void {
    const turns = new LoopTurns();
    for (const { name, help, seconds } of turns.figures) {
      const theirs = `nodejs_eventloop_lag_${name}_seconds`;
      this.registry.removeSingleMetric(theirs);
      this.gauge(theirs, `${help} of the event loop since the last scrape.`, seconds);
    }
    // The last of them, as a page reads them in the order in which they were made: reading it begins again.
    const longest = 'Longest stall of the event loop since the last scrape.';
    this.gauge('periplus_loop_lag_max_seconds', longest, () => turns.takeLongest());
  }

  /** Dashboards of istiod show the heap under the names that Go programs give it. */
  #heap(): void {
    const gauge = (name: string, help: string, value: keyof NodeJS.MemoryUsage): void =>
      this.gauge(name, help, () => process.memoryUsage()[value]);
    gauge('go_memstats_alloc_bytes', 'Heap in use, under the name of Go programs.', 'heapUsed');
    gauge('go_memstats_heap_alloc_bytes', 'Heap in use, under the name of Go programs.', 'heapUsed');
    gauge('go_memstats_heap_inuse_bytes', 'Heap that is held, under the name of Go programs.', 'heapTotal');
    gauge('go_memstats_heap_sys_bytes', 'Heap that is held, under the name of Go programs.', 'heapTotal');
  }

  observe(event: XdsObservation): void {
    switch (event.kind) {
      case 'Sent':
        this.#tookIn(this.#sent.get(event.typeUrl) ?? this.#cellsOf(event.typeUrl), event);
        break;
      case 'Nacked':
        this.#rejects.inc({ type: this.#typeName(event.typeUrl) });
        this.#rejectsOf.get(this.#typeName(event.typeUrl))?.inc();
        break;
      case 'Expired':
        this.#expired.inc({ type: this.#typeName(event.typeUrl) });
        break;
      case 'Released':
        for (const reason of Object.keys(event.request.reasons)) this.#triggers.inc({ type: reason });
        for (const key of event.request.configsUpdated) {
          this.#pushedConfigs.inc({ type: key.slice(0, key.indexOf('/')) });
        }
        this.#debounce.observe(event.waitedMs / 1_000);
        break;
      case 'Started':
        this.#queue.observe(event.queuedMs / 1_000);
        break;
      case 'Settled':
        this.#convergence.observe(event.tookMs / 1_000);
        break;
      case 'WriteSlow':
        this.#timeouts.inc();
        break;
      case 'Failed':
        this.#errors.inc();
        break;
      case 'Acked':
        break;
    }
  }

  #tookIn({ pushes, size, pushTime }: SentCells, event: XdsObservation & { readonly kind: 'Sent' }): void {
    pushes.inc();
    size.observe(event.bytes);
    pushTime.observe(event.pushMs / 1_000);
    this.#sendTime.observe(event.sendMs / 1_000);
  }

  #cellsOf(typeUrl: string): SentCells {
    const labels = { type: this.#typeName(typeUrl) };
    const cells = {
      pushes: this.#pushes.of(labels),
      size: this.#size.of(labels),
      pushTime: this.#pushTime.of(labels),
    };
    this.#sent.set(typeUrl, cells);
    return cells;
  }

  /** A fact was recorded and folded. */
  recorded(event: Event): void {
    if (event.kind !== 'Add' && event.kind !== 'Update' && event.kind !== 'Delete') return;
    const kindName = event.kind === 'Delete' ? event.ref.kind : event.object.kind;
    const kind = typeof kindName === 'string' ? kindName : 'unknown';
    const verb = event.kind.toLowerCase();
    if (REGISTRY.has(kind)) this.#registryEvents.inc({ type: kind, event: verb });
    else this.#configEvents.inc({ type: kind, event: verb });
    const deleted = kind === 'Service' && event.kind === 'Delete';
    this.#inbound.inc({
      type: deleted ? 'svcdelete' : kind === 'Service' ? 'svc' : kind === 'EndpointSlice' ? 'eds' : 'config',
    });
  }

  jwksFetched(succeeded: boolean): void {
    (succeeded ? this.#jwksSuccess : this.#jwksFail).inc();
  }

  /** A batch of changes was folded. */
  folded(request: PushRequest, effects: readonly Effect[], tookMs: number): void {
    if (!isNoPush(request)) this.#contextInit.observe(tookMs / 1_000);
    for (const effect of effects) {
      if (effect.kind !== 'Verdict' || effect.accepted) continue;
      this.#refused.inc({ type: effect.object.slice(0, effect.object.indexOf('/')) });
    }
  }

  /** A gauge with a value read on each scrape. */
  gauge(name: string, help: string, value: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(value());
      },
    });
  }

  /** A value for each label value at the time of asking. */
  gaugeBy(name: string, help: string, label: string, values: () => ReadonlyMap<string, number>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [key, value] of values()) this.set({ [label]: key }, value);
      },
    });
  }

  #constant(name: string, help: string, labels: Readonly<Record<string, string>>): void {
    new Gauge({ name, help, labelNames: Object.keys(labels), registers: [this.registry] }).set({ ...labels }, 1);
  }

  #counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #seconds(name: string, help: string): HistogramCell {
    return this.#histogram(name, help, SECONDS).of();
  }

  #histogram(name: string, help: string, bounds: readonly number[]): HistogramTally {
    return new HistogramTally({ registry: this.registry, name, help }, bounds);
  }

  /** Clients name types, so past a limit they share one series. */
  #typeName(url: string): string {
    const name = rulesOf(url).short.toLowerCase();
    if (this.#types.has(name)) return name;
    if (this.#types.size >= TYPES_MAX) return 'other';
    this.#types.add(name);
    return name;
  }
}
