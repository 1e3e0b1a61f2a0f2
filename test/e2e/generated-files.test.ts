// Committed files that generators make are what the generators make today, from Go modules by name; and what the CRDs
// of the Gateway API say is held against the examples of its own module. Needs Go.
//
// The descriptors of Envoy and istio.io/api (scripts/proto/main.go) are not made again here: linking them takes
// minutes.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLeft } from 'fp-ts/lib/Either.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/core/base/json.ts';
import { definitionOf } from '../../src/core/kinds/registry.ts';
import { canRun } from './suite.ts';

const root = join(import.meta.dirname, '../..');
const schema = join(root, 'src/core/schema');
const GATEWAY_API = 'sigs.k8s.io/gateway-api@v1.5.1';
const runs = canRun('generated files', spawnSync('go', ['version']).status === 0 ? undefined : 'there is no Go');

describe.runIf(runs)('generated files', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'periplus-generated-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[string, readonly string[]]>([
    ['scripts/crd/constraints.mjs', ['istio-constraints.gen.ts']],
    ['scripts/crd/gateway-api.mjs', ['gateway-api-constraints.gen.ts', 'gateway-api-types.gen.ts']],
    ['scripts/proto/envoy-schema.mjs', ['envoy-schema.gen.ts']],
  ])('of %s equal what their generator writes', (script, files) => {
    execFileSync('node', [join(root, script), folder], { cwd: root });
    for (const file of files) {
      expect(readFileSync(join(folder, file), 'utf8'), file).toBe(readFileSync(join(schema, file), 'utf8'));
    }
  });
});

describe.runIf(runs)('the examples of the Gateway API', () => {
  const module = (): string => {
    const answer = execFileSync('go', ['mod', 'download', '-json', GATEWAY_API], { encoding: 'utf8' });
    return (JSON.parse(answer) as { readonly Dir: string }).Dir;
  };
  it('are accepted if they are valid', () => {
    const verdicts = verdictsOf(join(module(), 'examples'));
    expect(verdicts.length).toBeGreaterThan(50);
    expect(verdicts.filter(({ refused }) => refused)).toEqual([]);
  });
  it('are refused if they are invalid', () => {
    const verdicts = verdictsOf(join(module(), 'hack/invalid-examples'));
    expect(verdicts.length).toBeGreaterThan(20);
    expect(verdicts.filter(({ refused }) => !refused)).toEqual([]);
  });
});

interface Verdict {
  readonly file: string;
  readonly refused: boolean;
}

/** Of every object of the Gateway API below a folder. */
function verdictsOf(folder: string): readonly Verdict[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.yaml'));
  return files.flatMap(file =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).flatMap(document => {
      const object = document.toJS() as JsonObject | null;
      const definition = definitionOf(object?.apiVersion, object?.kind);
      if (object === null || !definition?.group.startsWith('gateway.networking.')) return [];
      return [{ file, refused: isLeft(definition.decode(object)) }];
    }),
  );
}
