// Which standard metrics a proxy reports, for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go (mergeMetrics, generateStatsConfig).
// Only providers of type Prometheus are reported by the proxy itself, through the filter `istio.stats`.
//
// Invariant: `disabled` for all metrics is a switch of the mode, not ten disabled metrics. Any later override of the
// mode turns the switch, and what was recorded before it counts again.

import { compareText } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { workOfList } from '../../query/work-budget.ts';
import type { Metrics, MetricsOverrides } from '../../schema/istio-types.gen.ts';
import { defaultProviders, extensionProvider, modeMatches, providerNames, telemetryLevels } from './telemetry.ts';
import { reportsAs, subjectOf, type TrafficClass } from './traffic-class.ts';

export interface MetricOverride extends MetricTags {
  /** Name as the stats filter knows it, e.g. `requests_total`. */
  readonly name: string;
  readonly drop: boolean;
}

interface MetricTags {
  /** Undefined: none. */
  readonly dimensions: Readonly<Record<string, string>> | undefined;
  readonly tagsToRemove: readonly string[];
}

export interface StatsSpec {
  readonly overrides: readonly MetricOverride[];
  /** As written in Telemetry. */
  readonly reportingInterval?: unknown;
}

/** Telemetry's names of the metrics and those of the filter. */
const metricNames: Readonly<Record<string, string>> = {
  GRPC_REQUEST_MESSAGES: 'request_messages_total',
  GRPC_RESPONSE_MESSAGES: 'response_messages_total',
  REQUEST_COUNT: 'requests_total',
  REQUEST_DURATION: 'request_duration_milliseconds',
  REQUEST_SIZE: 'request_bytes',
  RESPONSE_SIZE: 'response_bytes',
  TCP_CLOSED_CONNECTIONS: 'tcp_connections_closed_total',
  TCP_OPENED_CONNECTIONS: 'tcp_connections_opened_total',
  TCP_RECEIVED_BYTES: 'tcp_received_bytes_total',
  TCP_SENT_BYTES: 'tcp_sent_bytes_total',
};
const ALL_METRICS = 'ALL_METRICS';
const NO_TAGS: MetricTags = { dimensions: undefined, tagsToRemove: [] };

/** Argument: the class of traffic. One spec for each provider that is on; a proxy has one stats filter a provider. */
export const stats: Query<TrafficClass, readonly StatsSpec[]> = {
  name: 'select/stats',
  run: (reader, traffic) => {
    const defaults = defaultProviders(reader, 'metrics');
    const entries = reader.get(telemetryLevels, subjectOf(traffic)).flatMap(level => level.metrics ?? []);
    const addressed = addressees(defaults, entries);
    const specs: StatsSpec[] = [];
    for (const name of providersInScope(defaults, entries)) {
      if (extensionProvider(reader, name)?.prometheus === undefined) continue;
      const spec = statsSpec(reader, name, entries, addressed, traffic);
      if (spec !== undefined) specs.push(spec);
    }
    return specs;
  },
};

/** Those of the last entry that names any, else the defaults; by name. */
function providersInScope(defaults: readonly string[], entries: readonly Metrics[]): readonly string[] {
  const named = entries.map(providerNames).filter(names => names.length > 0);
  return [...new Set(named.at(-1) ?? defaults)].sort(compareText);
}

/** The providers that each entry is for: those it names, else those of the entry before it, else the defaults. */
function addressees(defaults: readonly string[], entries: readonly Metrics[]): readonly ReadonlySet<string>[] {
  let names: ReadonlySet<string> = new Set(defaults);
  return entries.map(entry => {
    const own = providerNames(entry);
    if (own.length > 0) names = new Set(own);
    return names;
  });
}

interface Override {
  disabled: boolean;
  tags: TagHistory | undefined;
}

/**
 * The overrides that change the tags of a metric, the newest first. Metrics with the same history share it, so the tags
 * of an override of all metrics are worked out once and not for each metric.
 */
interface TagHistory {
  readonly before: TagHistory | undefined;
  readonly override: MetricsOverrides;
}

/** What the entries say of the metrics of one mode. */
interface Merged {
  off: boolean;
  /** By Telemetry's name, or the custom one. */
  readonly overrides: Map<string, Override>;
}

/** Undefined if the mode is off. */
function statsSpec(
  reader: ProxyReader,
  provider: string,
  entries: readonly Metrics[],
  addressed: readonly ReadonlySet<string>[],
  traffic: TrafficClass,
): StatsSpec | undefined {
  const merged: Merged = { off: false, overrides: new Map() };
  let reportingInterval: unknown;
  for (const [i, entry] of entries.entries()) {
    if (!addressed[i]!.has(provider)) continue;
    if (entry.reportingInterval !== undefined) reportingInterval = entry.reportingInterval;
    for (const override of entry.overrides ?? []) {
      if (modeMatches(override.match?.mode, traffic)) applyOverride(merged, override);
    }
  }
  if (merged.off) return undefined;
  const tags = new Map<TagHistory, MetricTags>();
  const tagsOf = (history: TagHistory | undefined): MetricTags => {
    if (history === undefined) return NO_TAGS;
    const known = tags.get(history) ?? reader.make(metricTags, { overrides: oldestFirst(history) });
    tags.set(history, known);
    return known;
  };
  const overrides = [...merged.overrides]
    .sort(byName)
    .map(([name, { disabled, tags: history }]) => shown(name, disabled, tagsOf(history)));
  return { overrides, reportingInterval };
}

function applyOverride(merged: Merged, override: MetricsOverrides): void {
  const { match: { metric = ALL_METRICS, customMetric } = {}, disabled, tagOverrides } = override;
  merged.off = customMetric === undefined && metric === ALL_METRICS && disabled === true;
  if (merged.off) return;
  const all = customMetric === undefined && metric === ALL_METRICS;
  const continued = new Map<TagHistory | undefined, TagHistory>();
  for (const name of all ? Object.keys(metricNames) : [customMetric ?? metric]) {
    const current = merged.overrides.get(name) ?? { disabled: false, tags: undefined };
    merged.overrides.set(name, current);
    if (disabled !== undefined) current.disabled = disabled;
    if (tagOverrides === undefined) continue;
    const before = current.tags;
    current.tags = continued.get(before) ?? { before, override };
    continued.set(before, current.tags);
  }
}

function oldestFirst(history: TagHistory): readonly MetricsOverrides[] {
  const overrides: MetricsOverrides[] = [];
  for (let at: TagHistory | undefined = history; at !== undefined; at = at.before) overrides.push(at.override);
  return overrides.reverse();
}

/** A generator, so that it is a piece of work of its own, and the classes of traffic share what it gives. */
const metricTags: Generator<{ readonly overrides: readonly MetricsOverrides[] }, MetricTags> = {
  name: 'select/metricTags',
  run: ({ overrides }) => {
    const merged = new Map<string, { readonly remove: boolean; readonly value: string }>();
    for (const { tagOverrides = {} } of overrides) {
      for (const [tag, { operation, value = '' }] of Object.entries(tagOverrides)) {
        merged.set(tag, { remove: operation === 'REMOVE', value });
      }
    }
    const tags = [...merged].sort(byName);
    const dimensions = tags.filter(([, tag]) => !tag.remove).map(([tag, { value }]) => [tag, value] as const);
    return {
      dimensions: dimensions.length === 0 ? undefined : Object.fromEntries(dimensions),
      tagsToRemove: tags.filter(([, tag]) => tag.remove).map(([tag]) => tag),
    };
  },
  work: (_, { overrides }) => workOfList(overrides.flatMap(({ tagOverrides = {} }) => Object.keys(tagOverrides))),
};

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return compareText(a[0], b[0]);
}

/** A metric that is dropped keeps its tags. */
function shown(name: string, drop: boolean, tags: MetricTags): MetricOverride {
  return { name: Object.hasOwn(metricNames, name) ? metricNames[name]! : name, drop, ...tags };
}

/** An inbound or gateway proxy does not use the host header as the destination: it knows its service. */
export function ignoresHostHeader(traffic: TrafficClass): boolean {
  return reportsAs(traffic) === 'SERVER' || traffic === 'gateway';
}
