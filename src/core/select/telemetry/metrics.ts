// Which standard metrics a proxy reports, for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go.
// Only providers of type Prometheus are reported by the proxy itself, through the filter `istio.stats`.

import { isObject } from '../../base/json.ts';
import { compareText } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import type { Metrics, MetricsOverrides } from '../../schema/istio-types.gen.ts';
import {
  defaultProviders,
  extensionProvider,
  modeMatches,
  providerNames,
  providersInScope,
  telemetryLevels,
} from './telemetry.ts';
import { reportsAs, type TrafficClass } from './traffic-class.ts';

export interface MetricOverride {
  /** Name as the stats filter knows it, e.g. `requests_total`. */
  readonly name: string;
  readonly drop: boolean;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly tagsToRemove: readonly string[];
}

export interface StatsSpec {
  readonly overrides: readonly MetricOverride[];
  /** As written in Telemetry. */
  readonly reportingInterval?: unknown;
}

/** Telemetry's names of the metrics and those of the filter. */
const metricNames: Readonly<Record<string, string>> = {
  REQUEST_COUNT: 'requests_total',
  REQUEST_DURATION: 'request_duration_milliseconds',
  REQUEST_SIZE: 'request_bytes',
  RESPONSE_SIZE: 'response_bytes',
  TCP_OPENED_CONNECTIONS: 'tcp_connections_opened_total',
  TCP_CLOSED_CONNECTIONS: 'tcp_connections_closed_total',
  TCP_SENT_BYTES: 'tcp_sent_bytes_total',
  TCP_RECEIVED_BYTES: 'tcp_received_bytes_total',
  GRPC_REQUEST_MESSAGES: 'request_messages_total',
  GRPC_RESPONSE_MESSAGES: 'response_messages_total',
};

/** Argument: the class of traffic. One spec for each provider that is on; a proxy has one stats filter a provider. */
export const stats: Query<TrafficClass, readonly StatsSpec[]> = {
  name: 'select/stats',
  run: (reader, traffic) => {
    const defaults = defaultProviders(reader, 'metrics');
    const levels = reader.get(telemetryLevels, '').map(level => level.metrics ?? []);
    const scope = providersInScope(defaults, levels, traffic);
    const specs: StatsSpec[] = [];
    for (const name of [...scope].sort(compareText)) {
      const provider = extensionProvider(reader, name);
      if (provider === undefined || !isObject(provider.prometheus)) continue;
      const spec = statsSpec(name, defaults, levels.flat(), traffic);
      if (spec !== undefined) specs.push(spec);
    }
    return specs;
  },
};

interface Override {
  disabled: boolean;
  readonly tags: Map<string, { readonly remove: boolean; readonly value: string }>;
}

/** Undefined if every metric is off. */
function statsSpec(
  provider: string,
  defaults: readonly string[],
  entries: readonly Metrics[],
  traffic: TrafficClass,
): StatsSpec | undefined {
  const overrides = new Map<string, Override>();
  let names = defaults;
  let reportingInterval: unknown;
  for (const entry of entries) {
    const own = providerNames(entry);
    if (own.length > 0) names = own;
    if (!names.includes(provider)) continue;
    if (entry.reportingInterval !== undefined) reportingInterval = entry.reportingInterval;
    for (const override of entry.overrides ?? []) applyOverride(overrides, override, traffic);
  }
  const known = Object.values(metricNames);
  if (known.every(name => overrides.get(name)?.disabled === true)) return undefined;
  return { overrides: [...overrides].sort(byName).map(([name, override]) => shown(name, override)), reportingInterval };
}

function applyOverride(overrides: Map<string, Override>, override: MetricsOverrides, traffic: TrafficClass): void {
  if (!modeMatches(override.match?.mode, traffic)) return;
  for (const name of metricsOf(override)) {
    const current = overrides.get(name) ?? { disabled: false, tags: new Map() };
    overrides.set(name, current);
    if (override.disabled !== undefined) current.disabled = override.disabled;
    for (const [tag, change] of Object.entries(override.tagOverrides ?? {})) {
      current.tags.set(tag, { remove: change.operation === 'REMOVE', value: change.value ?? '' });
    }
  }
}

function metricsOf(override: MetricsOverrides): readonly string[] {
  const match = override.match;
  if (match?.customMetric !== undefined && match.customMetric !== '') return [match.customMetric];
  const metric = match?.metric ?? 'ALL_METRICS';
  const name = metricNames[metric];
  return name === undefined ? Object.values(metricNames) : [name];
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return compareText(a[0], b[0]);
}

function shown(name: string, override: Override): MetricOverride {
  if (override.disabled) return { name, drop: true, dimensions: {}, tagsToRemove: [] };
  const tags = [...override.tags].sort(byName);
  return {
    name,
    drop: false,
    dimensions: Object.fromEntries(tags.filter(([, tag]) => !tag.remove).map(([tag, { value }]) => [tag, value])),
    tagsToRemove: tags.filter(([, tag]) => tag.remove).map(([tag]) => tag),
  };
}

/** An inbound or gateway proxy does not use the host header as the destination: it knows its service. */
export function ignoresHostHeader(traffic: TrafficClass): boolean {
  return reportsAs(traffic) === 'SERVER' || traffic === 'gateway';
}
