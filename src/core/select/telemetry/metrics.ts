// Which standard metrics a proxy reports, for each class of traffic.
// Source: Istio pilot/pkg/model/telemetry.go (mergeMetrics, generateStatsConfig).
// Only providers of type Prometheus are reported by the proxy itself, through the filter `istio.stats`.
//
// Invariant: `disabled` for all metrics is a switch of the mode, not ten disabled metrics. Any later override of the
// mode turns the switch, and what was recorded before it counts again.

import { listKeys, objectOf, sortedKeysOf } from '../../base/keys.ts';
import { compareText } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { workOfList } from '../../query/work-budget.ts';
import type { Metrics, MetricsOverrides, MetricsOverrides_TagOverride } from '../../schema/istio-types.gen.ts';
import { defaultProviders, definedProviders, extensionProvider, providerNames, telemetryLevels } from './telemetry.ts';
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
const allMetrics = Object.keys(metricNames);
const ALL_METRICS = 'ALL_METRICS';
const NO_TAGS: MetricTags = { dimensions: undefined, tagsToRemove: [] };

/** Argument: the class of traffic. One spec for each provider that is on; a proxy has one stats filter a provider. */
export const stats: Query<TrafficClass, readonly StatsSpec[]> = {
  name: 'select/stats',
  run: (reader, traffic) => {
    const defaults = defaultProviders(reader, 'metrics');
    const entries = reader.get(telemetryLevels, subjectOf(traffic)).flatMap(level => level.metrics ?? []);
    const addressed = addressees(reader, defaults, entries);
    const specs: StatsSpec[] = [];
    for (const name of providersInScope(reader, defaults, entries)) {
      if (extensionProvider(reader, name)?.prometheus === undefined) continue;
      const spec = statsSpec(reader, name, entries, addressed, traffic);
      if (spec !== undefined) specs.push(spec);
    }
    return specs;
  },
};

/** Those of the last entry that names any, else the defaults; by name. */
function providersInScope(
  reader: ProxyReader,
  defaults: readonly string[],
  entries: readonly Metrics[],
): readonly string[] {
  const naming = entries.findLast(({ providers = [] }) => providers.length > 0);
  const names = naming === undefined ? defaults : definedProviders(reader, providerNames(naming));
  return [...new Set(names)].sort(compareText);
}

/** The providers that each entry is for: those it names, else those of the entry before it, else the defaults. */
function addressees(
  reader: ProxyReader,
  defaults: readonly string[],
  entries: readonly Metrics[],
): readonly ReadonlySet<string>[] {
  let names: ReadonlySet<string> = new Set(defaults);
  return entries.map(entry => {
    const own = providerNames(entry);
    if (own.length > 0) names = new Set(definedProviders(reader, own));
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
  const own = entries.filter((_, i) => addressed[i]!.has(provider));
  let reportingInterval: unknown;
  let count = 0;
  for (const entry of own) {
    if (entry.reportingInterval !== undefined) reportingInterval = entry.reportingInterval;
    count += entry.overrides?.length ?? 0;
  }
  const inputs = { entries: own, mode: reportsAs(traffic) };
  const merged = count < MANY_OVERRIDES ? mergedOverrides.run(inputs) : reader.make(mergedOverrides, inputs);
  if (merged.off) return undefined;
  const tags = new Map<TagHistory, MetricTags>();
  const tagsOf = (history: TagHistory | undefined): MetricTags => {
    if (history === undefined) return NO_TAGS;
    const known = tags.get(history) ?? tagsAfter(reader, oldestFirst(history));
    tags.set(history, known);
    return known;
  };
  const overrides = [...merged.overrides]
    .sort(byName)
    .map(([name, { disabled, tags: history }]) => shown(name, disabled, tagsOf(history)));
  return { overrides, reportingInterval };
}

/** More are merged in a run of their own, and for all classes of traffic of one mode at once. */
const MANY_OVERRIDES = 512;
/** Overrides that are merged in the time of a run of a query. */
const OVERRIDES_PER_WORK_UNIT = 16;

const mergedOverrides: Generator<
  { readonly entries: readonly Metrics[]; readonly mode: ReturnType<typeof reportsAs> },
  Merged
> = {
  name: 'select/mergedMetricOverrides',
  run: ({ entries, mode }) => {
    const merged: Merged = { off: false, overrides: new Map() };
    for (const { overrides = [] } of entries) {
      for (const override of overrides) {
        const { mode: own } = override.match ?? {};
        if (own === undefined || own === 'CLIENT_AND_SERVER' || own === mode) applyOverride(merged, override);
      }
    }
    return merged;
  },
  work: (_, { entries }) =>
    entries.reduce((sum, { overrides = [] }) => sum + overrides.length, 0) / OVERRIDES_PER_WORK_UNIT,
};

function applyOverride(merged: Merged, override: MetricsOverrides): void {
  const { match: { metric = ALL_METRICS, customMetric } = {}, disabled, tagOverrides } = override;
  const all = customMetric === undefined && metric === ALL_METRICS;
  merged.off = all && disabled === true;
  if (merged.off) return;
  const continued = new Map<TagHistory | undefined, TagHistory>();
  for (const name of all ? allMetrics : [customMetric ?? metric]) {
    const current = merged.overrides.get(name) ?? { disabled: false, tags: undefined };
    merged.overrides.set(name, current);
    if (disabled !== undefined) current.disabled = disabled;
    if (tagOverrides === undefined) continue;
    const before = current.tags;
    current.tags = continued.get(before) ?? { before, override };
    if (all) continued.set(before, current.tags);
  }
}

function oldestFirst(history: TagHistory): readonly MetricsOverrides[] {
  const overrides: MetricsOverrides[] = [];
  for (let at: TagHistory | undefined = history; at !== undefined; at = at.before) overrides.push(at.override);
  return overrides.reverse();
}

interface MergedTags {
  /** In order. */
  readonly names: readonly string[];
  readonly overrideOf: (name: string) => MetricsOverrides_TagOverride;
}

/** Of more tags the order is found in a run of its own. */
const MANY_TAGS = 2_048;

function tagsAfter(reader: ProxyReader, overrides: readonly MetricsOverrides[]): MetricTags {
  const isLong = overrides.some(({ tagOverrides = {} }) => listKeys(tagOverrides).length > MANY_TAGS);
  return reader.make(metricTags, isLong ? { merged: reader.make(mergedTags, { overrides }) } : { overrides });
}

const mergedTags: Generator<{ readonly overrides: readonly MetricsOverrides[] }, MergedTags> = {
  name: 'select/mergedMetricTags',
  run: ({ overrides }) => {
    if (overrides.length === 1) {
      const { tagOverrides = {} } = overrides[0]!;
      return { names: sortedKeysOf(tagOverrides), overrideOf: name => tagOverrides[name]! };
    }
    const merged = new Map<string, MetricsOverrides_TagOverride>();
    for (const { tagOverrides = {} } of overrides) {
      for (const tag of listKeys(tagOverrides)) merged.set(tag, tagOverrides[tag]!);
    }
    return { names: [...merged.keys()].sort(), overrideOf: name => merged.get(name)! };
  },
  work: ({ names }) => workOfList(names),
};

/** A generator, so that it is a piece of work of its own, and the classes of traffic share what it gives. */
const metricTags: Generator<
  { readonly overrides?: readonly MetricsOverrides[]; readonly merged?: MergedTags },
  MetricTags
> = {
  name: 'select/metricTags',
  run: ({ overrides: given = [], merged = mergedTags.run({ overrides: given }) }) => {
    const set: string[] = [];
    const tagsToRemove: string[] = [];
    for (const tag of merged.names) {
      if (merged.overrideOf(tag).operation === 'REMOVE') tagsToRemove.push(tag);
      else set.push(tag);
    }
    const dimensions = set.length === 0 ? undefined : objectOf(set, tag => merged.overrideOf(tag).value ?? '');
    return { dimensions, tagsToRemove };
  },
  work: (_, { overrides = [], merged }) =>
    workOfList(merged?.names ?? overrides.flatMap(({ tagOverrides = {} }) => listKeys(tagOverrides))),
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
