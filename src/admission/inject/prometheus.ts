// Scraping goes to the proxy's agent, which adds the metrics of the application: the pod's own annotations become a
// variable of the proxy. Prometheus takes `prometheus.io/port`, `prometheus_io_port` and the like for one annotation.
// Source: Istio pkg/kube/inject/webhook.go (applyPrometheusMerge).

import { goBoolean } from '../../core/base/go-boolean.ts';
import { goJson } from '../template/go-json.ts';
import { annotationsOf, changeContainer, listAt, type Pod, PROXY, type Texts, withAnnotations } from './pod.ts';

const FIELDS: readonly (readonly [string, string])[] = [
  ['scrape', 'prometheus_io_scrape'],
  ['path', 'prometheus_io_path'],
  ['port', 'prometheus_io_port'],
];

/** `enabled`: enablePrometheusMerge of the mesh. */
export function withMergedMetrics(pod: Pod, statusPort: number, enabled: boolean): Pod {
  const annotations = annotationsOf(pod);
  const merges = goBoolean(annotations['prometheus.istio.io/merge-metrics']) ?? enabled;
  if (!scrapes(annotations) || !merges) return pod;
  const given = new Map(Object.entries(annotations).map(([name, value]) => [sanitized(name), value]));
  if (given.get('prometheus_io_port') === String(statusPort)) return pod;
  const wanted = FIELDS.map(([field, name]) => [field, given.get(name) ?? ''] as const);
  const isAsked = wanted.some(([, value]) => value !== '');
  const scraping = goJson(Object.fromEntries(wanted), { keepsOrder: true });
  const told = isAsked
    ? changeContainer(pod, PROXY, proxy => ({
        ...proxy,
        env: [...listAt(proxy, 'env'), { name: 'ISTIO_PROMETHEUS_ANNOTATIONS', value: scraping }],
      }))
    : pod;
  return withAnnotations(told, {
    ...withoutScraping(annotations),
    'prometheus.io/port': String(statusPort),
    'prometheus.io/path': '/stats/prometheus',
    'prometheus.io/scrape': 'true',
  });
}

/** Before a pod is injected again: annotations of the first time are not the application's. */
export function withoutOwnScraping(annotations: Texts, statusPort: number): Texts {
  const port = Object.entries(annotations).find(([name]) => sanitized(name) === 'prometheus_io_port')?.[1];
  return port === String(statusPort) ? withoutScraping(annotations) : annotations;
}

function scrapes(annotations: Texts): boolean {
  return !Object.entries(annotations).some(
    ([name, value]) => sanitized(name) === 'prometheus_io_scrape' && goBoolean(value) === false,
  );
}

function withoutScraping(annotations: Texts): Texts {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name]) => !FIELDS.some(([, known]) => known === sanitized(name))),
  );
}

function sanitized(name: string): string {
  return name.replace(/[^a-zA-Z0-9_]/g, '_');
}
