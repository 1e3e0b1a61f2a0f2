// npm run bench -- [--only NAME] [--json] [--write]: how fast Periplus is on this machine. Prints JSON; never a test.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { appendFigures, foldFigures, restartFigures } from './folding.ts';
import { generationFigures, heapFigures } from './generation.ts';
import { historyFigures } from './history.ts';
import { istiodFigures } from './istiod-generation.ts';
import type { Figure, Figures } from './measure.ts';
import { BASELINE, readBaseline, report, table } from './report.ts';
import { startFigures, stormFigures } from './storms.ts';

const benches: Readonly<Record<string, () => Promise<Figures>>> = {
  heap: heapFigures,
  fold: foldFigures,
  restart: restartFigures,
  append: appendFigures,
  history: historyFigures,
  istiod: istiodFigures,
  'generate-100': () => generationFigures(100),
  'generate-1000': () => generationFigures(1_000),
  storms: stormFigures,
  start: startFigures,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const names = values.only ?? Object.keys(benches);
const unknown = names.filter(name => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`);
  process.exit(2);
}

const say = (text: string): void => {
  if (!values.json) process.stderr.write(`${text}\n`);
};

const figures: Record<string, Figure> = {};
for (const name of names) {
  say(`measuring ${name} …`);
  Object.assign(figures, await benches[name]!());
}
const made = report(figures, readBaseline());
say(`\n${table(made)}\n`);
process.stdout.write(`${JSON.stringify(made, undefined, 2)}\n`);
if (values.write) {
  if (values.only !== undefined) throw new Error('a baseline has every figure: leave out --only');
  writeFileSync(BASELINE, `${JSON.stringify(report(figures, undefined), undefined, 2)}\n`);
}
