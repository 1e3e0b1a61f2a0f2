// Golden cases of our own, in the layout of the conformance vectors: test/conformance/golden/GROUP/CASE. What a proxy
// would be sent must equal the files under expected/; types without a file are not compared. `refused.json` names the
// objects that are to be refused; absent: none. After an intended change run with PERIPLUS_UPDATE_GOLDENS=1, which
// rewrites the files that are there, and read the difference before committing it.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/base/json.ts';
import { canonicalJson } from '../../src/core/base/json.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { collect } from '../../src/offline/collect.ts';
import { foldFacts, proxyFacts } from '../../src/offline/generate.ts';
import { type CaseProxy, listCases, proxiesOf, readCase } from './layout.ts';

const root = join(import.meta.dirname, 'golden');
const update = process.env.PERIPLUS_UPDATE_GOLDENS === '1';

type Folded = ReturnType<typeof foldFacts>;

function generate(folder: string, input: Folded, asked: CaseProxy): Readonly<Record<string, readonly Json[]>> {
  const refused = input.effects.flatMap(effect =>
    effect.kind === 'Verdict' && !effect.accepted ? [effect.object] : [],
  );
  expect(refused, 'refused objects').toEqual(refusedIn(folder));
  const { state } = foldFacts(proxyFacts(asked.name, asked.node), input.state);
  const proxy = state.proxies.get(asked.name);
  if (proxy === undefined) throw new Error(`the node of ${asked.name} was refused`);
  const failed = (what: string, error: unknown): void => {
    throw new Error(`${what}: ${String(error)}`);
  };
  return collect({ tracker: new Tracker(), state, proxy, failed }, asked);
}

/** `refused.json`: the objects of the input that are to be refused; absent: none. */
function refusedIn(folder: string): readonly string[] {
  const file = join(folder, 'refused.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly string[]) : [];
}

describe.each(listCases(root, []))('%s', name => {
  const folder = join(root, name);
  const proxies = proxiesOf(folder);
  let folded: Folded | undefined;

  it.each(proxies.map(proxy => [proxy.name, proxy] as const))('%s', (proxyName, proxy) => {
    const expected = join(folder, 'expected', proxyName);
    const files = existsSync(expected) ? readdirSync(expected).filter(file => file.endsWith('.json')) : [];
    expect(files, `${expected} has expectations`).not.toEqual([]);
    folded ??= foldFacts(readCase(folder).facts);
    const generated = generate(folder, folded, proxy);
    for (const file of files) {
      const resources = generated[file.slice(0, -'.json'.length)];
      if (update) writeFileSync(join(expected, file), `${pretty(resources ?? [])}\n`);
      expect(resources, file).toEqual(JSON.parse(readFileSync(join(expected, file), 'utf8')));
    }
  });
});

/** Sorted keys, so that files differ only where their meaning does. */
function pretty(resources: readonly Json[]): string {
  return JSON.stringify(JSON.parse(canonicalJson(resources)), null, 1);
}
