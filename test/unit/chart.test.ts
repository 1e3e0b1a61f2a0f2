// The Helm chart, as far as it can be judged without Helm: its list of known values and the rules of its roles.
// `test/e2e/helm.test.ts` renders it and applies it to an API server.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ownConfig } from '../../src/admission/templates/own.ts';
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

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

describe('the rules of the chart', () => {
  const rules = (name: string): Json => parse(text(`files/rules/${name}.yaml`)) as Json;
  /** Of the manifests that are applied without Helm: what each role allows. */
  function role(file: string, kind: string, name: string): Json {
    const documents = parseAllDocuments(readFileSync(join(chart, '../..', file), 'utf8')).map(one => one.toJS());
    return documents.find(one => one.kind === kind && one.metadata.name === name).rules as Json;
  }

  /** One line for each resource, however the rules put them together. */
  const flat = (...all: readonly Json[]): readonly string[] => {
    const lines = (all.flat() as unknown as readonly Rule[]).flatMap(
      ({ apiGroups, resources, resourceNames = [], verbs }) =>
        resources.map(resource => [...apiGroups, resource, ...resourceNames, ...verbs].join(' ')),
    );
    // Several features may need one right.
    return [...new Set(lines)].sort();
  };

  it('are those of the manifests without Helm', () => {
    expect(flat(rules('read'))).toEqual(flat(role('rbac.yaml', 'ClusterRole', 'periplus')));
    expect(flat(rules('reviews'))).toEqual(flat(role('rbac.yaml', 'ClusterRole', 'periplus-identity')));
    expect(flat(rules('ca'))).toEqual(flat(role('rbac.yaml', 'Role', 'periplus-identity')));
    // The signers stand in global.certSigners.
    const optional = (name: string): Json => role('rbac-optional.yaml', 'ClusterRole', name);
    expect(flat(rules('untaint'))).toEqual(flat(optional('periplus-untaint')));
    expect(flat(rules('auto-export'))).toEqual(flat(optional('periplus-auto-export')));
    const registration = flat(role('rbac-registration.yaml', 'ClusterRole', 'periplus-registration'));
    expect(flat(rules('registration'))).toEqual(registration.filter(line => !line.includes(' signers ')));
    const local = ['elections', 'self-test'].map(rules);
    expect(flat(...local)).toEqual(flat(role('rbac-write.yaml', 'Role', 'periplus-elections')));
    const cluster = ['roots', 'status', 'webhooks', 'gateways', 'machines', 'trust-bundles', 'distribution'].map(rules);
    expect(flat(...cluster)).toEqual(flat(role('rbac-write.yaml', 'ClusterRole', 'periplus-writer')));
  });
});

describe('the templates of injection in the chart', () => {
  it('are those that the program has itself', () => {
    for (const [name, template] of Object.entries(ownConfig.templates as Readonly<Record<string, string>>)) {
      const file = join(chart, `files/injection/${name}.yaml`);
      if (process.env.PERIPLUS_UPDATE_GOLDENS === '1') writeFileSync(file, template);
      expect(readFileSync(file, 'utf8')).toBe(template);
    }
    expect(readdirSync(join(chart, 'files/injection')).sort()).toEqual(
      Object.keys(ownConfig.templates as JsonObject)
        .map(name => `${name}.yaml`)
        .sort(),
    );
  });
});
