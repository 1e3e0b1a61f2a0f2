// A Pod as the API server sends it: JSON of a known shape. Nothing here trusts that shape: what has another type counts
// as absent. Every function returns a new pod; none changes its argument.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';

export type Pod = JsonObject;
export type Container = JsonObject;
export type ContainerList = 'containers' | 'initContainers';
export type Texts = { readonly [name: string]: string };

export const PROXY = 'istio-proxy';
export const INIT = 'istio-init';
export const VALIDATION = 'istio-validation';
export const CORE_DUMP = 'enable-core-dump';

/** The metadata or spec, or an object within one of them; {} if it is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): JsonObject {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return isObject(found) ? found : {};
}

export function listAt(value: Json | undefined, ...path: readonly string[]): readonly JsonObject[] {
  const last = path.at(-1) ?? '';
  const found = objectAt(value, ...path.slice(0, -1))[last];
  return Array.isArray(found) ? (found as readonly Json[]).filter(isObject) : [];
}

export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = objectAt(value, ...path.slice(0, -1))[path.at(-1) ?? ''];
  return typeof found === 'string' ? found : '';
}

export function labelsOf(pod: Pod): Texts {
  return textsOf(objectAt(pod, 'metadata', 'labels'));
}

export function annotationsOf(pod: Pod): Texts {
  return textsOf(objectAt(pod, 'metadata', 'annotations'));
}

function textsOf(map: JsonObject): Texts {
  return Object.fromEntries(
    Object.entries(map).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

export function containersOf(pod: Pod, list: ContainerList): readonly Container[] {
  return listAt(pod, 'spec', list);
}

/** Containers first, then init containers: a native sidecar is one of those. */
export function findContainer(pod: Pod, name: string): Container | undefined {
  const all = [...containersOf(pod, 'containers'), ...containersOf(pod, 'initContainers')];
  return all.find(container => container.name === name);
}

export function withMetadata(pod: Pod, members: JsonObject): Pod {
  return { ...pod, metadata: { ...objectAt(pod, 'metadata'), ...members } };
}

export function withAnnotations(pod: Pod, annotations: Texts): Pod {
  return withMetadata(pod, { annotations });
}

/** An empty list that was not there stays away. */
export function withContainers(pod: Pod, list: ContainerList, containers: readonly Container[]): Pod {
  const spec = objectAt(pod, 'spec');
  if (containers.length === 0 && spec[list] === undefined) return pod;
  return { ...pod, spec: { ...spec, [list]: containers } };
}

/** Changes the container of that name, the first one as findContainer finds it. */
export function changeContainer(pod: Pod, name: string, change: (container: Container) => Container): Pod {
  for (const list of ['containers', 'initContainers'] as const) {
    const containers = containersOf(pod, list);
    const at = containers.findIndex(container => container.name === name);
    if (at >= 0) return withContainers(pod, list, containers.with(at, change(containers[at]!)));
  }
  return pod;
}

export function namesOf(containers: readonly JsonObject[]): readonly string[] {
  return containers.map(({ name }) => (typeof name === 'string' ? name : ''));
}

/** A name for messages; pods of controllers have none yet. */
export function shownPod(pod: Pod): string {
  const { name, generateName, namespace } = objectAt(pod, 'metadata');
  return `${String(namespace ?? '')}/${String(name ?? `${String(generateName ?? '')}*`)}`;
}
