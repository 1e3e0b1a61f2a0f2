// One row of istiod's generation benchmarks (istiod-generation.ts): `node --import ./bench/compiled.mjs bench/istiod-row.ts CASE
// clusters|listeners|routes|everything` prints its figures as JSON. A process of its own, and a good one to profile.

import { type CaseName, caseNames } from './istiod-cases.ts';
import { rowFigures } from './istiod-generation.ts';

const [name, about = 'everything'] = process.argv.slice(2);
if (!caseNames.includes(name as CaseName)) throw new Error(`no case ${name}; there are ${caseNames.join(', ')}`);
process.stdout.write(`${JSON.stringify(await rowFigures(name as CaseName, about))}\n`);
