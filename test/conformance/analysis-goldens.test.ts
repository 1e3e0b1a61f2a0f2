// Istio's own table of analyzers (pkg/config/analysis/analyzers/analyzers_test.go): for each analyzer and input the
// messages and the objects that they are about. It lies beside the project with the conformance vectors; without it
// this suite says by name that it did not run, and fails under PERIPLUS_REQUIRE_ALL=1.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { analyze } from '../../src/analysis/analyze.ts';
import { schemaValidation } from '../../src/analysis/analyzers/schema-validation.ts';
import { friendlyName } from '../../src/analysis/message.ts';
import { analyzedObjects } from '../../src/analysis/objects.ts';
import { analyzers } from '../../src/analysis/registry.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { analysisContext, installedGateway, objectsOfText } from '../../src/offline/analysis-input.ts';
import { foldFacts, singleDocument } from '../../src/offline/generate.ts';
import { findVectors } from './vectors.ts';

interface GoldenCase {
  readonly name: string;
  readonly analyzer: string;
  readonly inputFiles: readonly string[];
  readonly meshConfigFile: string | null;
  readonly meshNetworksFile: string | null;
  readonly expected: readonly { readonly message: string; readonly origin: string }[];
}

const vectors = findVectors();
const folder = 'missing' in vectors ? '' : join(dirname(vectors.cases), 'goldens/analysis');
const missing = folder === '' || !existsSync(join(folder, 'expected.json'));
/** When the certificates of the files are judged: after the one that has expired, before the others do. */
const NOW = Date.parse('2026-01-01T00:00:00Z');
const CLUSTER = 'default';

function found({ analyzer, inputFiles, meshConfigFile, meshNetworksFile }: GoldenCase): readonly string[] {
  const facts: Unrecorded[] = [];
  for (const [kind, file] of [
    ['MeshConfig', meshConfigFile],
    ['MeshNetworks', meshNetworksFile],
  ] as const) {
    if (file === null) continue;
    const path = join(folder, file);
    facts.push({ source: `file/${CLUSTER}`, kind, ...singleDocument(path, readFileSync(path, 'utf8')) });
  }
  const { state } = foldFacts(facts);
  const texts = inputFiles.map(file => [file, readFileSync(join(folder, file), 'utf8')] as const);
  const objects = [...texts.flatMap(([file, text]) => objectsOfText(CLUSTER, file, text)), ...installedGateway(state)];
  const chosen = [...analyzers, schemaValidation].filter(({ name, type = name }) => type === analyzer);
  expect(chosen.length).toBeGreaterThan(0);
  const { messages } = analyze(analyzedObjects(objects, analysisContext(state, NOW), ''), chosen, { runAll: true });
  return messages.map(({ name, item }) => `${name} ${item === undefined ? '' : friendlyName(item)}`).sort();
}

if (missing) {
  describe("Istio's table of analyzers", () => {
    it('exists beside the project if these cases are to run', () => {
      if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error('no ../shared/conformance/goldens/analysis');
      process.stderr.write("Istio's table of analyzers did NOT run: no conformance vectors beside the project\n");
    });
  });
} else {
  const cases = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as readonly GoldenCase[];

  describe("Istio's table of analyzers", () => {
    for (const one of cases) {
      it(`${one.analyzer} reports the messages of: ${one.name} (${one.inputFiles.join(', ')})`, () => {
        const wanted = one.expected.map(({ message, origin }) => `${message} ${origin}`).sort();
        expect(found(one)).toEqual(wanted);
      });
    }
  });
}
