// Gauges of the control plane: values that are read when metrics are asked for. Names that begin with `pilot_` and
// `xds_` are istiod's (Istio pilot/pkg/model/push_context.go, pilot/pkg/xds/monitoring.go): its dashboards show them.

import { Tracker } from '../core/query/tracker.ts';
import { policyFindings } from '../core/select/policy/policy-findings.ts';
import { rulesOf } from '../xds/session/types.ts';
import type { DebugParts, SourceReport } from './debug-parts.ts';
import { versionOf } from './pages/connections.ts';

export function registerGauges(parts: DebugParts): void {
  ofSources(parts);
  ofMesh(parts);
  ofStreams(parts);
  ofMemory(parts);
}

function ofSources({ metrics, sources }: DebugParts): void {
  const bySource = (value: (report: SourceReport) => number) => () =>
    new Map(sources.report().map(report => [report.source, value(report)]));
  metrics.gaugeBy(
    'periplus_source_synced',
    '1 once everything of a source has been listed since the start.',
    'source',
    bySource(({ synced }) => (synced ? 1 : 0)),
  );
  metrics.gaugeBy(
    'periplus_source_troubles',
    'Number of present problems of a source; /debug/sourcesz has the words.',
    'source',
    bySource(({ troubles }) => troubles.length),
  );
  metrics.gaugeBy(
    'periplus_source_unreadable',
    'Parts of a source that cannot be read right now, by number: what was known of them stays.',
    'source',
    bySource(({ unreadable }) => unreadable.length),
  );
  metrics.gaugeBy(
    'periplus_source_unreadable_since_seconds',
    'Unix time since which the longest unreadable part of a source cannot be read; 0: all can.',
    'source',
    bySource(({ unreadable }) =>
      unreadable.length === 0 ? 0 : Math.min(...unreadable.map(({ since }) => since)) / 1_000,
    ),
  );
}

function ofMesh({ world, metrics }: DebugParts): void {
  metrics.gauge('pilot_services', 'Services of Kubernetes and ServiceEntries in force.', () => {
    const { Service, ServiceEntry } = world.state.objects;
    return Service.size + ServiceEntry.size;
  });
  metrics.gauge('pilot_virt_services', 'VirtualServices in force.', () => world.state.objects.VirtualService.size);
  const policyTracker = new Tracker();
  metrics.gauge('periplus_policies_not_enforceable', 'Policies that refuse because they cannot be enforced.', () => {
    if (world.state.objects.AuthorizationPolicy.size === 0) return 0;
    const found = policyTracker.get(world.state, undefined, policyFindings, '');
    return found.filter(({ effect }) => effect === 'refuses').length;
  });
  metrics.gauge('periplus_journal_seq', 'Last event that is folded.', () => world.state.seq);
  metrics.gauge('periplus_journal_durable', '0 while the journal cannot be written.', () => (world.durable ? 1 : 0));
}

function ofStreams({ xds, metrics }: DebugParts): void {
  metrics.gaugeBy('pilot_xds', 'Connected proxies, by the version that they say.', 'version', () => {
    const count = new Map<string, number>();
    for (const { facets } of xds.served()) count.set(versionOf(facets), (count.get(versionOf(facets)) ?? 0) + 1);
    return count;
  });
  metrics.gauge('pilot_xds_recv_max', 'Largest request received, bytes.', () => xds.stats.largestRequest);
  metrics.gauge('periplus_response_bytes_made', 'Bytes of responses put together.', () => xds.stats.madeBytes);
  metrics.gauge('periplus_response_bytes_shared', 'Bytes sent that were there already.', () => xds.stats.sharedBytes);
  metrics.gauge(
    'periplus_response_bytes_kept',
    'Bytes of whole responses kept to be shared.',
    () => xds.stats.bodyBytes,
  );
  metrics.gauge(
    'periplus_request_repeats',
    'Large requests that had been read before.',
    () => xds.stats.repeatedRequests,
  );
  metrics.gauge(
    'periplus_client_facts_chars',
    'Characters of facts that clients made the journal grow by.',
    () => xds.stats.chargedChars,
  );
  metrics.gauge(
    'periplus_client_over_budget',
    'Requests that were refused because their client made the journal grow too fast.',
    () => xds.stats.overBudget,
  );
  metrics.gauge('periplus_view_cuts', 'Times that a look was cut to let others go on.', () => xds.stats.cuts);
  metrics.gaugeBy('periplus_classes', 'Different contents that proxies hold, by type.', 'type', () => {
    const classes = new Map<string, Set<string>>();
    for (const { versions } of xds.served()) {
      for (const [typeUrl, version] of versions) classes.set(typeUrl, (classes.get(typeUrl) ?? new Set()).add(version));
    }
    return new Map([...classes].map(([type, all]) => [rulesOf(type).short.toLowerCase(), all.size] as const));
  });
}

function ofMemory({ engine, metrics }: DebugParts): void {
  metrics.gauge('periplus_memo_swept', 'Memoised query values that a sweep forgot.', () => engine.tracker.stats.swept);
  metrics.gauge('periplus_selector_runs', 'Queries run since the start.', () => engine.tracker.stats.runs);
  metrics.gauge(
    'periplus_selector_hits',
    'Queries answered from memory since the start.',
    () => engine.tracker.stats.hits,
  );
  metrics.gauge('periplus_generated', 'Generators run since the start.', () => engine.tracker.stats.generated);
  // istiod's names for what it remembers: there responses of its cache, here values of queries and generators.
  metrics.gauge('xds_cache_size', 'Values of generators held.', () => engine.tracker.size.generated);
  metrics.gaugeBy(
    'xds_cache_reads',
    'Queries since the start, by whether they were answered from memory.',
    'type',
    () => {
      const { hits, runs } = engine.tracker.stats;
      return new Map([
        ['hit', hits],
        ['miss', runs],
      ]);
    },
  );
  metrics.gauge('xds_cache_evictions', 'Values that a sweep forgot.', () => engine.tracker.stats.swept);
  metrics.gauge('periplus_memo_queries', 'Memoised query values held.', () => engine.tracker.size.queries);
  metrics.gauge('periplus_memo_generated', 'Memoised generator values held.', () => engine.tracker.size.generated);
  metrics.gauge(
    'periplus_selector_verifications',
    'Memoised values whose calls were compared since the start.',
    () => engine.tracker.stats.verifications,
  );
}
