// What the proxies of conformance cases would be sent, written as files in the layout that the scorer compares. A case
// that fails does not stop the others; it is reported and has no files, which scores as wrong.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../../src/core/base/json.ts';
import type { Effect } from '../../src/core/effect.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { collect } from '../../src/offline/collect.ts';
import { foldFacts, proxyFacts } from '../../src/offline/generate.ts';
import { readCase } from './layout.ts';

export interface GenerateWatcher {
  /** Before case `index` of `cases`. */
  readonly started?: (name: string, index: number) => void;
  /** What folding the objects of a case came to. */
  readonly folded?: (effects: readonly Effect[]) => void;
  readonly failed: (name: string, what: string, error: unknown) => void;
}

/** Writes OUT/GROUP/CASE/PROXY/TYPE.json for each of `cases` (`GROUP/CASE`) below `root`. */
export function generateCases(root: string, out: string, cases: readonly string[], watcher: GenerateWatcher): void {
  cases.forEach((name, index) => {
    watcher.started?.(name, index);
    try {
      generateCase(join(root, name), join(out, name), {
        ...watcher,
        failed: (_, what, error) => watcher.failed(name, what, error),
      });
    } catch (error) {
      watcher.failed(name, 'case', error);
    }
  });
}

function generateCase(folder: string, out: string, watcher: GenerateWatcher): void {
  const given = readCase(folder);
  const input = foldFacts(given.facts);
  watcher.folded?.(input.effects);
  const tracker = new Tracker();
  for (const asked of given.proxies) {
    const { state } = foldFacts(proxyFacts(asked.name, asked.node), input.state);
    const proxy = state.proxies.get(asked.name);
    if (proxy === undefined) {
      watcher.failed(folder, asked.name, 'the node was refused');
      continue;
    }
    const failed = (what: string, error: unknown): void => watcher.failed(folder, `${asked.name}: ${what}`, error);
    const collected = collect({ tracker, state, proxy, failed }, asked);
    mkdirSync(join(out, asked.name), { recursive: true });
    for (const [type, resources] of Object.entries(collected)) {
      writeFileSync(join(out, asked.name, `${type}.json`), `${canonicalJson(resources)}\n`);
    }
  }
}
