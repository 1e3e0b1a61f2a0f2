// npm run bench -- [--only NAME] [--case NAME] [--json] [--write]: how fast Periplus is on this machine. `--case` takes
// one of istiod's cases alone (telemetry-api, envoy-filters, …), repeatable. Prints JSON; never a test.
// `--write` keeps the figures as the baseline; with `--only` the others stay.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs, promisify } from 'node:util';
import { clusterFigures } from './clusters.ts';
import { explorerFigures } from './explorer.ts';
import { appendFigures, foldFigures, restartFigures } from './folding.ts';
import { gatewayApiFigures } from './gateway-api.ts';
import { generationFigures, heapFigures } from './generation.ts';
import { growthFigures } from './growth.ts';
import { historyFigures } from './history.ts';
import { type CaseName, caseNames } from './istiod-cases.ts';
import { istiodFigures } from './istiod-generation.ts';
import type { Figure, Figures } from './measure.ts';
import { policyFigures } from './policies.ts';
import { replicaFigures } from './replicas.ts';
import { BASELINE, type Report, readBaseline, report, table, withFigures } from './report.ts';
import { signingFigures } from './signing.ts';
import { startFigures, stormFigures } from './storms.ts';

const benches: Readonly<Record<string, () => Promise<Figures>>> = {
  heap: heapFigures,
  fold: foldFigures,
  restart: restartFigures,
  append: appendFigures,
  history: historyFigures,
  growth: growthFigures,
  clusters: clusterFigures,
  explorer: explorerFigures,
  'gateway-api': gatewayApiFigures,
  istiod: () => istiodFigures(values.case),
  'generate-100': () => generationFigures(100),
  'generate-1000': () => generationFigures(1_000),
  policies: policyFigures,
  replicas: replicaFigures,
  signing: signingFigures,
  storms: stormFigures,
  start: startFigures,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    case: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const names = values.only ?? (values.case === undefined ? Object.keys(benches) : ['istiod']);
const unknown = names.filter(name => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`);
  process.exit(2);
}

for (const name of values.case ?? []) {
  if (caseNames.includes(name as CaseName)) continue;
  process.stderr.write(`no case ${name}; there are ${caseNames.join(', ')}\n`);
  process.exit(2);
}

const say = (text: string): void => {
  if (!values.json) process.stderr.write(`${text}\n`);
};

/** Of several each has a process of its own: what one leaves in memory would cost the next its collector's time. */
async function measured(name: string): Promise<Figures> {
  if (names.length === 1) return benches[name]!();
  const cases = name === 'istiod' ? (values.case ?? []).flatMap(one => ['--case', one]) : [];
  const args = [...process.execArgv, process.argv[1]!, '--only', name, ...cases, '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  const made = JSON.parse(stdout) as Report;
  return Object.fromEntries(Object.entries(made.figures).map(([key, { ratio: _, ...figure }]) => [key, figure]));
}

const figures: Record<string, Figure> = {};
for (const name of names) {
  say(`measuring ${name} …`);
  Object.assign(figures, await measured(name));
}
const made = report(figures, readBaseline());
say(`\n${table(made)}\n`);
process.stdout.write(`${JSON.stringify(made, undefined, 2)}\n`);
if (values.write) {
  const isPart = (values.only ?? values.case) !== undefined;
  const written = isPart ? withFigures(readBaseline(), figures) : report(figures, undefined);
  writeFileSync(BASELINE, `${JSON.stringify(written, undefined, 2)}\n`);
}
