#!/usr/bin/env node
// periplus: the command line. One file a command; program.ts puts them together.

import { EXIT } from './output.ts';
import { run } from './program.ts';

// `periplus journal ls | head` closes our output early: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok);
  throw error;
});

await run(process.argv.slice(2));
