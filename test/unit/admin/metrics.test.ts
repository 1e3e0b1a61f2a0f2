// The metrics page: istiod's names, and values that follow what is observed.

import { Counter, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { Metrics, TYPES_MAX } from '../../../src/admin/metrics.ts';
import { CountTally, HistogramTally } from '../../../src/admin/tallies.ts';
import { noPush, pushRequest } from '../../../src/core/push-request.ts';

const CDS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';

async function page(metrics: Metrics): Promise<readonly string[]> {
  return (await metrics.registry.metrics()).split('\n');
}

describe('metrics', () => {
  it('count observations, and refusals also by type', async () => {
    const metrics = new Metrics();
    metrics.observe({ kind: 'Sent', typeUrl: CDS, bytes: 10, resources: 1, pushMs: 200, sendMs: 20 });
    metrics.observe({ kind: 'Started', queuedMs: 2_000 });
    metrics.observe({ kind: 'Nacked', typeUrl: CDS });
    const lines = await page(metrics);
    expect(lines).toContain('pilot_xds_pushes{type="cds"} 1');
    expect(lines).toContain('pilot_total_xds_rejects{type="cds"} 1');
    expect(lines).toContain('pilot_xds_cds_reject 1');
    expect(lines).toContain('pilot_xds_eds_reject 0');
    expect(lines).toContain('pilot_xds_push_time_bucket{le="0.1",type="cds"} 0');
    expect(lines).toContain('pilot_xds_push_time_bucket{le="0.5",type="cds"} 1');
    expect(lines).toContain('pilot_xds_send_time_sum 0.02');
    expect(lines).toContain('pilot_proxy_queue_time_sum 2');
  });

  it('have a limited number of series for types that clients invent', async () => {
    const metrics = new Metrics();
    for (let i = 0; i < 3 * TYPES_MAX; i++) metrics.observe({ kind: 'Expired', typeUrl: `invented/${i}` });
    const series = (await page(metrics)).filter(line => line.startsWith('pilot_xds_expired_nonce{'));
    expect(series).toHaveLength(TYPES_MAX + 1);
    expect(series).toContain(`pilot_xds_expired_nonce{type="other"} ${2 * TYPES_MAX}`);
  });

  it('count the configurations of pushes by kind', async () => {
    const metrics = new Metrics();
    const request = pushRequest(1, 'config', ['VirtualService/a/x', 'VirtualService/a/y', 'Gateway/a/z'], {
      full: true,
    });
    metrics.observe({ kind: 'Released', request, waitedMs: 0 });
    const lines = await page(metrics);
    expect(lines).toContain('periplus_push_configs{type="VirtualService"} 2');
    expect(lines).toContain('periplus_push_configs{type="Gateway"} 1');
    expect(lines).toContain('pilot_push_triggers{type="config"} 1');
  });

  it('count recorded events by kind', async () => {
    const metrics = new Metrics();
    const head = { seq: 1, time: 1, source: 'file/Kubernetes' };
    const service = { kind: 'Service', metadata: { name: 'a' } };
    metrics.recorded({ ...head, kind: 'Add', object: service });
    metrics.recorded({ ...head, kind: 'Update', object: { kind: 'VirtualService' } });
    metrics.recorded({ ...head, kind: 'Update', object: { kind: 'EndpointSlice' } });
    const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'a' };
    metrics.recorded({ ...head, kind: 'Delete', ref });
    metrics.recorded({ ...head, kind: 'Synced' });
    const lines = await page(metrics);
    for (const type of ['svc', 'svcdelete', 'eds', 'config']) {
      expect(lines).toContain(`pilot_inbound_updates{type="${type}"} 1`);
    }
    expect(lines).toContain('pilot_k8s_reg_events{type="Service",event="delete"} 1');
    expect(lines).toContain('pilot_k8s_cfg_events{type="VirtualService",event="update"} 1');
  });

  it('record fold times of pushes, and refusals by kind', async () => {
    const metrics = new Metrics();
    const refused = { kind: 'Verdict', object: 'VirtualService/default/web', accepted: false, problems: [] } as const;
    metrics.folded(noPush, [refused, { ...refused, accepted: true }], 5_000);
    metrics.folded({ ...noPush, causes: { ...noPush.causes, count: 1 } }, [], 200);
    const lines = await page(metrics);
    expect(lines).toContain('pilot_pushcontext_init_seconds_bucket{le="0.1"} 0');
    expect(lines).toContain('pilot_pushcontext_init_seconds_bucket{le="0.5"} 1');
    expect(lines).toContain('pilot_pushcontext_init_seconds_count 1');
    expect(lines).toContain('pilot_total_rejected_configs{type="VirtualService"} 1');
  });

  it('read gauges on demand, and drop labels that are gone', async () => {
    const metrics = new Metrics();
    let proxies = new Map([['1.30.3', 2]]);
    metrics.gaugeBy('pilot_xds', 'Proxies.', 'version', () => proxies);
    expect(await page(metrics)).toContain('pilot_xds{version="1.30.3"} 2');
    proxies = new Map([['1.29.0', 1]]);
    const lines = await page(metrics);
    expect(lines).toContain('pilot_xds{version="1.29.0"} 1');
    expect(lines.some(line => line.includes('1.30.3'))).toBe(false);
  });

  it('include the version, the process and the event loop', async () => {
    const text = (await page(new Metrics())).join('\n');
    for (const name of ['pilot_info{', 'istio_build{', 'istiod_uptime_seconds ', 'process_resident_memory_bytes ']) {
      expect(text).toContain(`\n${name}`);
    }
    expect(text).toMatch(/\nperiplus_loop_lag_max_seconds \d/);
    for (const figure of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99']) {
      expect(text.match(new RegExp(`^nodejs_eventloop_lag_${figure}_seconds [0-9]`, 'gm'))).toHaveLength(1);
    }
  });
});

describe('tallies', () => {
  it('match what prom-client shows for the same observations', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const bounds = [0.1, 1, 5];
    const histogram = new HistogramTally({ registry: ours, name: 'h', help: 'Help.' }, bounds);
    const counter = new CountTally({ registry: ours, name: 'c', help: 'Help.' });
    const named = { help: 'Help.', labelNames: ['type'], registers: [theirs] };
    const otherHistogram = new Histogram({ ...named, name: 'h', buckets: [...bounds] });
    const otherCounter = new Counter({ ...named, name: 'c' });
    for (const [type, value] of [
      ['cds', 0.1],
      ['eds', 7],
      ['cds', 0.11],
      ['cds', 5],
    ] as const) {
      histogram.of({ type }).observe(value);
      counter.of({ type }).inc();
      otherHistogram.observe({ type }, value);
      otherCounter.inc({ type });
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });
});
