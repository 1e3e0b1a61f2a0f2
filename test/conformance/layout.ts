// Reads the layout of the conformance vectors: GROUP/CASE with input.yaml, input-CLUSTER.yaml, mesh.yaml, networks.yaml, env.yaml and
// proxies.yaml. A case becomes facts and nodes; nothing is generated here.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../src/core/mesh/settings.ts';
import { objectFacts, singleDocument } from '../../src/offline/generate.ts';

export interface CaseProxy {
  readonly name: string;
  /** envoy.config.core.v3.Node in protojson. */
  readonly node: JsonObject;
  /** Names of listeners, for proxyless clients. */
  readonly watchLds: readonly string[] | undefined;
  /** A ztunnel: incremental, and other types. */
  readonly delta: boolean;
}

export interface Case {
  readonly facts: readonly Unrecorded[];
  readonly proxies: readonly CaseProxy[];
}

/** `GROUP/CASE` of every case below `root`, sorted; of these groups only, if any are given. */
export function listCases(root: string, groups: readonly string[]): readonly string[] {
  const present = folders(root);
  const missing = groups.filter(group => !present.includes(group));
  if (missing.length > 0) throw new Error(`${root} has no group ${missing.join(', ')}; it has ${present.join(', ')}`);
  const wanted = groups.length > 0 ? [...new Set(groups)].sort() : present;
  return wanted.flatMap(group => folders(join(root, group)).map(name => `${group}/${name}`));
}

export function readCase(folder: string): Case {
  const facts: Unrecorded[] = [engine(folder)];
  const mesh = optional(join(folder, 'mesh.yaml'));
  if (mesh !== undefined) facts.push({ source: 'file/Kubernetes', kind: 'MeshConfig', ...mesh });
  const networks = optional(join(folder, 'networks.yaml'));
  if (networks !== undefined) facts.push({ source: 'file/Kubernetes', kind: 'MeshNetworks', ...networks });
  for (const file of readdirSync(folder).sort()) {
    const cluster = file === 'input.yaml' ? 'Kubernetes' : /^input-(.+)\.yaml$/.exec(file)?.[1];
    if (cluster === undefined) continue;
    facts.push(...objectFacts(`file/${cluster}`, join(folder, file), readFileSync(join(folder, file))));
  }
  return { facts, proxies: proxiesOf(folder) };
}

function engine(folder: string): Unrecorded {
  const given = optional(join(folder, 'env.yaml'))?.value;
  const env: Record<string, string> = {};
  if (isObject(given)) for (const [name, value] of Object.entries(given)) env[name] = String(value);
  return { source: 'runtime', kind: 'Engine', settings: settingsToJson({ ...defaultSettings, env }) };
}

/** The proxies of a case, without reading its objects. */
export function proxiesOf(folder: string): readonly CaseProxy[] {
  const file = join(folder, 'proxies.yaml');
  const { value } = singleDocument(file, readFileSync(file, 'utf8'));
  if (!Array.isArray(value)) throw new Error(`${file}: expected a list of proxies`);
  return value.map((entry, i): CaseProxy => {
    if (!isObject(entry) || typeof entry.name !== 'string' || !isObject(entry.node)) {
      throw new Error(`${file}: proxy ${i} needs a name and a node`);
    }
    const watch = isObject(entry.watch) && Array.isArray(entry.watch.lds) ? entry.watch.lds.map(String) : undefined;
    return { name: entry.name, node: entry.node, watchLds: watch, delta: isObject(entry.delta) };
  });
}

function optional(file: string): ReturnType<typeof singleDocument> | undefined {
  return existsSync(file) ? singleDocument(file, readFileSync(file, 'utf8')) : undefined;
}

function folders(root: string): readonly string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
    .sort();
}
