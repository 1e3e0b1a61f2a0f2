// How cost grows with size: each case at a size and at four times it, folded and made into what a sidecar holds. A figure is the CPU time of the
// larger over that of the smaller: 4 is linear, 16 is quadratic. Texts of YAML are measured alike.

import type { JsonObject } from '../src/core/base/json.ts';
import { readYaml } from '../src/core/base/yaml.ts';
import { Tracker } from '../src/core/query/tracker.ts';
import { foldFacts, proxyFacts } from '../src/offline/generate.ts';
import { heldBy } from '../src/offline/held.ts';
import { growthCases } from './growth-cases.ts';
import { cpuMs, type Figure, type Figures, times } from './measure.ts';

const FACTOR = 4;
const ROUNDS = 3;
/** A shorter time is mostly the compiler's and the collector's. */
const MS_MIN = 20;

const node: JsonObject = {
  id: 'sidecar~10.1.1.1~p.a~a.svc.cluster.local',
  cluster: 'p.a',
  metadata: { NAMESPACE: 'a', CLUSTER_ID: 'Kubernetes', ISTIO_VERSION: '1.30.0', LABELS: { app: 'p' } },
};

const texts: Readonly<Record<string, (size: number) => string>> = {
  'YAML, keys of a map': size => Array.from({ length: size }, (_, i) => `k${i}: 1\n`).join(''),
  'YAML, lists in lists': size => '['.repeat(size),
  'YAML, explicit keys': size => '? '.repeat(size),
  'YAML, anchors and aliases': size => `[${Array.from({ length: size }, (_, i) => `&a${i} 1, *a${i}`).join(', ')}]`,
  'YAML, comments': size => `a: 1\n${'\n'.repeat(size)}${'   #\n'.repeat(size)}b: 1`,
  'YAML, mistakes': size => `[${','.repeat(size)}]`,
};
const TEXT_SIZE = 10_000;

function made(objects: readonly JsonObject[]): void {
  const facts = objects.map(object => ({ source: 'file/Kubernetes', kind: 'Add' as const, object }));
  const { state } = foldFacts([...proxyFacts('p', node), ...facts]);
  heldBy(new Tracker(), state, state.proxies.get('p')!);
}

function growth(run: (size: number) => void, size: number): Figure {
  run(size);
  const least = (of: number): number => Math.min(...Array.from({ length: ROUNDS }, () => cpuMs(() => run(of))));
  return times(Math.max(least(size * FACTOR), MS_MIN) / Math.max(least(size), MS_MIN));
}

export async function growthFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const { name, size, objects } of growthCases) {
    figures[`growth, ${name}`] = growth(of => made(objects(of)), size);
  }
  for (const [name, text] of Object.entries(texts)) {
    figures[`growth, ${name}`] = growth(of => void readYaml(text(of)), TEXT_SIZE);
  }
  return figures;
}
