// The plugin of the trial: the folder's sources come with their mutants in them, and `vitest`, where a test file imports
// it, is the collector, so that the tests are gathered instead of run. The journal's writer runs without a thread.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = 'virtual:tests-of-the-folder';
const THREAD = /import \{ parentPort, workerData \} from 'node:worker_threads';/;

const THREAD_OF_THE_TRIAL = 'const { parentPort, workerData } = globalThis.__periplusThread__;';

export interface Plugin {
  readonly name: string;
  readonly enforce: 'pre';
  resolveId(source: string, importer: string | undefined): string | undefined;
  load(id: string): string | undefined;
}

export function instrumented(work: string, here: string, tests: readonly string[]): Plugin {
  const sources = JSON.parse(readFileSync(join(work, 'sources.json'), 'utf8')) as Readonly<Record<string, string>>;
  const root = join(here, '../..');
  return {
    name: 'periplus-mutants',
    enforce: 'pre',
    resolveId(source, importer = '') {
      if (source === TESTS) return `\0${TESTS}`;
      if (source === './start-worker.ts' && importer.endsWith('/src/journal/writer-link.ts')) {
        return join(here, 'in-process-worker.ts');
      }
      return source === 'vitest' && !importer.startsWith(here) ? join(here, 'collect.ts') : undefined;
    },
    load(id) {
      if (id === `\0${TESTS}`) return tests.map(file => `import ${JSON.stringify(join(root, file))};`).join('\n');
      const [file = '', thread] = id.split('?thread=');
      const source = sources[file];
      return thread === undefined ? source : source?.replace(THREAD, THREAD_OF_THE_TRIAL);
    },
  };
}
