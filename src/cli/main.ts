#!/usr/bin/env node
// periplus: the command line. One file a command; program.ts puts them together.

import { keepCompiledCode } from './compile-cache.ts';
import { boundYoungGeneration } from './heap.ts';
import { whyTooOld } from './node-version.ts';
import { ignoreDebugSignal, listenForStop } from './signals.ts';

ignoreDebugSignal();
if (['serve', 'discovery', 'record'].includes(process.argv[2] ?? '')) {
  listenForStop();
  boundYoungGeneration();
}

const tooOld = whyTooOld(process.versions.node);
if (tooOld !== undefined) {
  process.stderr.write(`periplus: ${tooOld}\n`);
  process.exit(1);
}
keepCompiledCode();
// Not before: what they need may not be there in an older Node, which then says something else.
const { EXIT } = await import('./output.ts');
const { run } = await import('./program.ts');

// `periplus journal ls | head` closes our output early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

await run(process.argv.slice(2));
