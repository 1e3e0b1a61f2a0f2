// The thread that validates large reviews. It keeps nothing between two of them, so it may be ended at any time and
// another one started.

import { parentPort } from 'node:worker_threads';
import { validationOf } from './validation.ts';

parentPort?.on('message', (body: Uint8Array) =>
  parentPort?.postMessage(validationOf(Buffer.from(body).toString('utf8'))),
);
