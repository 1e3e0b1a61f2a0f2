// The Helm chart, as far as it can be judged without Helm: its list of known values and the rules of its roles.
// `test/e2e/helm.test.ts` renders it and applies it to an API server.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';

const chart = join(import.meta.dirname, '../../deploy/helm/periplus');
const text = (file: string): string => readFileSync(join(chart, file), 'utf8');
const lists = parse(text('files/values.yaml')) as {
  readonly open: readonly string[];
  readonly 'without-effect': Readonly<Record<string, string>>;
};

/** As `periplus.paths` of the chart has them: maps whose keys are the user's own, and empty ones, are leaves. */
function leaves(value: Json | undefined, path = ''): readonly string[] {
  const isLeaf = lists.open.includes(path) || !isObject(value) || (path !== '' && Object.keys(value).length === 0);
  if (isLeaf) return [path];
  return Object.entries(value).flatMap(([key, one]) => leaves(one, path === '' ? key : `${path}.${key}`));
}

describe('the values of the chart', () => {
  const known = [...leaves(parse(text('values.yaml')) as JsonObject)].sort();

  it('are all listed in the file that the notes compare with', () => {
    const file = join(chart, 'files/known.txt');
    const expected = `${known.join('\n')}\n`;
    if (process.env.PERIPLUS_UPDATE_GOLDENS === '1') writeFileSync(file, expected);
    expect(readFileSync(file, 'utf8')).toBe(expected);
  });

  it('have an effect, or stand among those without one', () => {
    const idle = Object.keys(lists['without-effect']);
    expect(known.filter(path => idle.some(name => path === name || path.startsWith(`${name}.`)))).toEqual([]);
  });
});

describe('the rules of the chart', () => {
  const rules = (name: string): Json => parse(text(`files/rules/${name}.yaml`)) as Json;
  /** Of the manifests that are applied without Helm: what each role allows. */
  function role(file: string, kind: string, name: string): Json {
    const documents = parseAllDocuments(readFileSync(join(chart, '../..', file), 'utf8')).map(one => one.toJS());
    return documents.find(one => one.kind === kind && one.metadata.name === name).rules as Json;
  }

  it('are those of the manifests without Helm', () => {
    expect(rules('read')).toEqual(role('rbac.yaml', 'ClusterRole', 'periplus'));
    expect(rules('reviews')).toEqual(role('rbac.yaml', 'ClusterRole', 'periplus-identity'));
    expect(rules('ca')).toEqual(role('rbac.yaml', 'Role', 'periplus-identity'));
    expect(rules('elections')).toEqual(role('rbac-write.yaml', 'Role', 'periplus-elections'));
    expect([...(rules('roots') as Json[]), ...(rules('trust-bundles') as Json[])]).toEqual(
      role('rbac-write.yaml', 'ClusterRole', 'periplus-writer'),
    );
  });
});
