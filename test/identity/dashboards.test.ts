// What dashboards and Kiali read of a control plane: every metric that the queries of Istio's dashboards name, those of
// our own dashboard and alert rules, and the pages that Kiali asks for by a port-forward. Metrics that only a Go
// program has are listed as such.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type TestPlane, testPlane } from './plane.ts';

const START_MS_MAX = 60_000;
const MONITORING = join(import.meta.dirname, '../../deploy/monitoring');
const METRIC =
  /\b(?:periplus|pilot|istio|istiod|galley|sidecar_injection|citadel|go|process|nodejs|container|envoy)_[a-z0-9_]+\b/g;

/** Istio manifests/addons/dashboards/pilot-dashboard.gen.json and istio-performance-dashboard.json, of istiod alone. */
const ISTIO = `galley_validation_failed galley_validation_passed go_memstats_alloc_bytes go_memstats_heap_alloc_bytes
  go_memstats_heap_inuse_bytes go_memstats_heap_sys_bytes istio_build pilot_k8s_cfg_events pilot_k8s_reg_events
  pilot_push_triggers pilot_total_xds_internal_errors pilot_total_xds_rejects pilot_xds pilot_xds_config_size_bytes
  pilot_xds_push_time pilot_xds_pushes process_cpu_seconds_total process_open_fds process_resident_memory_bytes
  process_virtual_memory_bytes sidecar_injection_failure_total sidecar_injection_success_total`;
/** What Kiali shows of a control plane. */
const KIALI = `pilot_info pilot_proxy_convergence_time pilot_services pilot_xds pilot_xds_pushes process_cpu_seconds_total
  process_resident_memory_bytes`;
/** Goroutines, stacks and allocations of Go: the panels stay empty. */
const OF_GO_ALONE = ['go_goroutines', 'go_memstats_stack_inuse_bytes', 'go_memstats_mallocs_total'];

let plane: TestPlane;
let text = '';
let families: ReadonlySet<string>;

beforeAll(async () => {
  plane = await testPlane({ webhooks: true });
  text = await (await get('/metrics')).text();
  families = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
}, START_MS_MAX);

afterAll(() => plane.stop());

const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}${path}`);
const words = (list: string): readonly string[] => list.split(/\s+/);

/** The metric families that expressions name. */
function named(expressions: readonly string[]): readonly string[] {
  const all = expressions.flatMap(expression => [...expression.matchAll(METRIC)].map(([name]) => name));
  return [...new Set(all.map(name => (families.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''))))];
}

function expressionsOf(panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]) {
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

describe('the metrics of a control plane', () => {
  it.each(words(ISTIO))('answer the dashboards of Istio: %s', name => {
    expect([...families]).toContain(name);
  });

  it.each(words(KIALI))('answer Kiali: %s', name => {
    expect([...families]).toContain(name);
  });

  it('have no numbers where only a Go program has some', () => {
    for (const name of OF_GO_ALONE) expect(text).not.toContain(name);
  });

  it('have the labels that queries sum by', () => {
    expect(text).toMatch(/^istio_build\{[^}]*component="pilot"[^}]*tag="[^"]+"/m);
  });

  it('answer every query of the dashboard of the journal', () => {
    const dashboard = JSON.parse(readFileSync(join(MONITORING, 'journal-dashboard.json'), 'utf8')) as {
      readonly panels: Parameters<typeof expressionsOf>[0];
    };
    const names = named(expressionsOf(dashboard.panels));
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter(name => !families.has(name))).toEqual([]);
    expect(named(['rate(periplus_no_such_thing[1m])']).filter(name => !families.has(name))).toHaveLength(1);
  });

  it('answer every alert rule, each of which says what it means', () => {
    const { groups } = parse(readFileSync(join(MONITORING, 'alerts.yaml'), 'utf8')) as {
      readonly groups: readonly {
        readonly rules: readonly {
          readonly alert: string;
          readonly expr: string;
          readonly for: string;
          readonly annotations: { readonly summary: string; readonly description: string };
        }[];
      }[];
    };
    const rules = groups.flatMap(group => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert, expr, for: wait, annotations } of rules) {
      const names = named([expr]);
      expect(names, alert).not.toEqual([]);
      expect(
        names.filter(name => !families.has(name)),
        alert,
      ).toEqual([]);
      expect(wait, alert).toMatch(/^\d+[mh]$/);
      expect(annotations.summary.length * annotations.description.length, alert).toBeGreaterThan(0);
    }
  });
});

describe('the pages that Kiali asks for', () => {
  it('answer a caller on this machine without a token', async () => {
    expect(await (await get('/debug/syncz')).json()).toEqual([]);
    expect(await (await get('/version')).text()).toMatch(/^\S+-\S+-\S+$/);
    expect((await get('/debug/config_dump?proxyID=absent.shop')).status).toBe(404);
  });
});
