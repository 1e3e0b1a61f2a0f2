// Starts the writer thread, from dist (JavaScript) and from src (TypeScript, under vitest or tsx) alike.
//
// Node 20 does not hand the loader hooks of `--import tsx` to a worker (the flag runs on the main thread only), so for
// a .ts file the worker begins with two lines that register tsx itself. tsx is a development dependency and never
// needed by what is published.

import { type ResourceLimits, Worker } from 'node:worker_threads';

export function startWorker(file: URL, workerData: unknown, resourceLimits: ResourceLimits = {}): Worker {
  if (!file.pathname.endsWith('.ts')) return new Worker(file, { workerData, resourceLimits });
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const boot = `import(${tsx}).then(tsx => { tsx.register(); return import(${JSON.stringify(file.href)}); })`;
  return new Worker(boot, { eval: true, execArgv: [], workerData, resourceLimits });
}
