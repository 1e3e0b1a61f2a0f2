// YAML on the disk as facts and proxies, for the commands that need no server: objects of files and folders, the mesh
// configuration, and a list of nodes.

import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { Locator } from '../adapters/file/locate.ts';
import { isObject, type JsonObject } from '../core/base/json.ts';
import { type Origin, showOrigin, showProblem } from '../core/base/problem.ts';
import type { Unrecorded } from '../core/event.ts';
import { defaultSettings, settingsToJson } from '../core/mesh/settings.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { objectsOfText } from '../offline/analysis-input.ts';
import { findingsOf } from '../offline/findings.ts';
import { foldFacts, type OfflineState, objectFacts, proxyFacts, singleDocument } from '../offline/generate.ts';
import { withMeshFacts } from '../offline/mesh-config-map.ts';
import { withEndpointsOfPods } from '../offline/pod-endpoints.ts';
import { nodesOfPods, runningPods } from '../offline/workload-proxies.ts';
import { settingsFrom } from '../runtime/serve-options.ts';
import { type Input, readInputs, STDIN } from './inputs.ts';
import { CliError, EXIT, tell } from './output.ts';

export interface MeshFlags {
  readonly meshConfig?: string;
  readonly networksConfig?: string;
  readonly domain: string;
  readonly clusterID: string;
  readonly namespace: string;
}

/** `where`: at what they count, if not always. */
export function addMeshFlags(command: Command, where = ''): Command {
  return command
    .option('--meshConfig <file>', `${where}MeshConfig`)
    .option('--networksConfig <file>', `${where}MeshNetworks`)
    .option('--domain <suffix>', `${where}DNS domain suffix`, defaultSettings.domainSuffix)
    .option('--clusterID <id>', `${where}id of the cluster`, defaultSettings.clusterId)
    .option('-n, --namespace <ns>', `${where}namespace of the control plane`, defaultSettings.systemNamespace);
}

/** The state that texts fold to, and the messages about them. */
export async function stateOf(inputs: readonly Input[], flags: MeshFlags): Promise<OfflineState> {
  const source = `file/${flags.clusterID}`;
  const { state } = foldFacts([...configFacts(flags), ...(await meshFacts(flags))]);
  const objects = inputs.flatMap(({ file, bytes }) => objectFacts(source, file, bytes));
  // The ConfigMap `istio` among them counts, as it does when the folder is served; first, so that nothing is judged
  // twice.
  const all = withMeshFacts({ state, source }, objects).map((fact): Unrecorded => ({ source, ...fact }));
  const isMesh = ({ kind }: Unrecorded): boolean => kind === 'MeshConfig' || kind === 'MeshNetworks';
  return foldFacts([...all.filter(isMesh), ...all.filter(fact => !isMesh(fact))], state);
}

/** The state that facts of a cluster fold to, with the settings of the flags. */
export async function stateOfFacts(facts: readonly Unrecorded[], flags: MeshFlags): Promise<State> {
  return foldFacts([...configFacts(flags), ...(await meshFacts(flags)), ...facts]).state;
}

/** Says of places in objects of texts which line and column they are. */
export class Places {
  readonly #texts: ReadonlyMap<string, Buffer>;
  readonly #locators = new Map<string, Locator>();

  constructor(inputs: readonly Input[]) {
    this.#texts = new Map(inputs.map(({ file, bytes }) => [file, bytes]));
  }

  /** The place itself if it can be found, else where its document begins. */
  at(origin: Origin | undefined, path: string): Origin | undefined {
    if (origin?.line === undefined || path === '') return origin;
    const { file, line } = origin;
    const bytes = this.#texts.get(file);
    if (bytes === undefined) return origin;
    const locator = this.#locators.get(file) ?? new Locator(bytes.toString('utf8'));
    this.#locators.set(file, locator);
    const found = locator.at({ line, path });
    return found === undefined ? origin : { file, ...found };
  }

  of(origin: Origin | undefined, path: string): string {
    return showOrigin(this.at(origin, path));
  }
}

/**
 * The state that files and folders come to; what is refused in them, or nothing comes of, or refers to nothing, goes to
 * stderr.
 */
export async function stateOfFiles(paths: readonly string[], flags: MeshFlags): Promise<State> {
  return toldState(await readInputs(paths), flags);
}

export interface MeshOfFiles {
  readonly state: State;
  readonly nodes: readonly NamedNode[];
}

/** As stateOfFiles, and a proxy for each pod, or where there is none for each workload. */
export async function meshOfFiles(paths: readonly string[], flags: MeshFlags): Promise<MeshOfFiles> {
  const mesh = await meshWithPods(paths, flags);
  if (mesh.nodes.length > 0) return mesh;
  throw new CliError(
    `there is no Pod and no workload in ${paths.join(', ')} to make a proxy of: give the proxies, --proxies FILE`,
    EXIT.misuse,
  );
}

/** As meshOfFiles; without pods and workloads there are no proxies. */
export async function meshWithPods(paths: readonly string[], flags: MeshFlags): Promise<MeshOfFiles> {
  const inputs = await readInputs(paths);
  const told = await toldState(inputs, flags);
  const objects = inputs.flatMap(({ file, bytes }) => objectsOfText(flags.clusterID, file, bytes.toString('utf8')));
  const state = withEndpointsOfPods(foldFacts(runningPods(objects), told).state);
  return { state, nodes: nodesOfPods(state) };
}

async function toldState(inputs: readonly Input[], flags: MeshFlags): Promise<State> {
  const { state, effects } = await stateOf(inputs, flags);
  const places = new Places(inputs);
  for (const effect of effects) {
    if (effect.kind !== 'Verdict' || effect.accepted) continue;
    for (const problem of effect.problems) {
      const place = places.of(effect.origin, problem.path);
      tell(`${place}: ${effect.object} is refused: ${showProblem(problem)}`);
    }
  }
  for (const { origin, reasons } of state.malformed.values()) {
    for (const reason of reasons) tell(`${origin.file}:${reason}`);
  }
  for (const { severity, code, origin, path = '', object, message } of findingsOf(state)) {
    // The proxies, which are workloads too, are not known yet.
    if (severity === 'error' || code === 'no-workload') continue;
    const what = object === '' ? '' : `${object}: `;
    tell(`${places.of(origin, path)}: warning: ${what}${message}`);
  }
  return state;
}

function configFacts(flags: MeshFlags): Unrecorded[] {
  const { domain, clusterID, namespace } = flags;
  const settings = settingsFrom(
    { domainSuffix: domain, clusterId: clusterID, systemNamespace: namespace },
    process.env,
  );
  return [{ source: 'runtime', kind: 'Engine', settings: settingsToJson(settings) }];
}

async function meshFacts(flags: MeshFlags): Promise<Unrecorded[]> {
  const facts: Unrecorded[] = [];
  for (const [kind, path] of [
    ['MeshConfig', flags.meshConfig],
    ['MeshNetworks', flags.networksConfig],
  ] as const) {
    if (path === undefined) continue;
    facts.push({ source: `file/${flags.clusterID}`, kind, ...singleDocument(path, await readText(path)) });
  }
  return facts;
}

export async function filesFacts(source: string, path: string): Promise<Unrecorded[]> {
  return (await readInputs([path])).flatMap(({ file, bytes }) => objectFacts(source, file, bytes));
}

export interface NamedNode {
  readonly name: string;
  readonly node: JsonObject;
}

/** A YAML list of {name, node}. */
export async function nodesOfFile(path: string): Promise<readonly NamedNode[]> {
  const { value: list } = singleDocument(path, await readText(path));
  if (!Array.isArray(list)) throw new CliError(`${path}: expected a list of {name, node}`);
  return list.map(entry => {
    if (!isObject(entry) || typeof entry.name !== 'string' || !isObject(entry.node)) {
      throw new CliError(`${path}: every entry needs a name and a node`);
    }
    return { name: entry.name, node: entry.node };
  });
}

/** The state with the proxy connected, and the proxy. */
export function connected(
  state: State,
  { name, node }: NamedNode,
): { readonly state: State; readonly proxy: ProxyRecord } {
  const { state: next } = foldFacts(proxyFacts(name, node), state);
  const proxy = next.proxies.get(name);
  if (proxy === undefined)
    throw new CliError(`${name}: the node is none: its id must be type~ip~id~domain with a valid IP address`);
  return { state: next, proxy };
}

async function readText(path: string): Promise<string> {
  if (path === STDIN) return (await readInputs([path])).map(({ bytes }) => bytes.toString('utf8')).join('');
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new CliError(`${path} cannot be read`);
  }
}
