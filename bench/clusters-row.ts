// One side of the bench of many clusters (clusters.ts): `node --import ./bench/compiled.mjs bench/clusters-row.ts COUNT`
// prints its figures as JSON. A process of its own, so that its memory is its own.

import { clusterRow } from './clusters.ts';

process.stdout.write(`${JSON.stringify(clusterRow(Number(process.argv[2] ?? 1)))}\n`);
