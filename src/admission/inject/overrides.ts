// Containers of the user that have the name of an injected one: the user's fields win over the template's. They are
// kept in an annotation, so that the pod can be injected again from the same start.
// Source: Istio pkg/kube/inject/webhook.go (stripPod, reinsertOverrides, reapplyOverwrittenContainers,
// adjustInitContainerUser).

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { goJson } from '../template/go-json.ts';
import { strategicMerge } from '../template/strategic-merge.ts';
import {
  annotationsOf,
  type Container,
  type ContainerList,
  changeContainer,
  containersOf,
  findContainer,
  INIT,
  listAt,
  namesOf,
  objectAt,
  type Pod,
  PROXY,
  VALIDATION,
  withAnnotations,
  withContainers,
} from './pod.ts';
import { withoutOwnScraping } from './prometheus.ts';

export const STATUS = 'sidecar.istio.io/status';
export const OVERRIDES = 'proxy.istio.io/overrides';
/** The image of an istio-proxy that is there to be overridden. */
const AUTO_IMAGE = 'auto';
const LISTS: readonly ContainerList[] = ['containers', 'initContainers'];

/** Why the user's containers of an earlier injection cannot be read; undefined: they can, or there are none. */
export function overridesFault(pod: Pod): string | undefined {
  const text = annotationsOf(pod)[OVERRIDES];
  if (text === undefined || text.trim() === 'null') return undefined;
  const kept = annotated(pod, OVERRIDES);
  const isSound = kept !== undefined && LISTS.every(list => areContainers(kept[list] ?? null));
  return isSound ? undefined : `annotation ${OVERRIDES}: expected a JSON object with lists of containers`;
}

function areContainers(value: Json): boolean {
  return value === null || (Array.isArray(value) && (value as readonly Json[]).every(isObject));
}

/** undefined: an annotation is no JSON object. */
function annotated(pod: Pod, name: string): JsonObject | undefined {
  const text = annotationsOf(pod)[name];
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The pod without what an earlier injection added, with the user's containers of then: what templates see. */
export function templateInput(pod: Pod, statusPort: number): Pod {
  const status = annotated(pod, STATUS);
  const stripped = status === undefined ? pod : withoutInjected(pod, status, statusPort);
  const overrides = annotated(pod, OVERRIDES);
  if (overrides === undefined) return stripped;
  return LISTS.reduce((before, list) => {
    const known = namesOf(containersOf(before, list));
    const missing = listAt(overrides, list).filter(({ name }) => !known.includes(String(name)));
    return withContainers(before, list, [...containersOf(before, list), ...missing]);
  }, stripped);
}

function withoutInjected(pod: Pod, status: JsonObject, statusPort: number): Pod {
  const cut = LISTS.reduce((before, list) => {
    const injected = injectedNames(status, list);
    return withContainers(
      before,
      list,
      containersOf(before, list).filter(({ name }) => !injected.includes(String(name))),
    );
  }, pod);
  const { [STATUS]: _, ...annotations } = withoutOwnScraping(annotationsOf(pod), statusPort);
  return withAnnotations(cut, annotations);
}

function injectedNames(status: JsonObject, list: ContainerList): readonly string[] {
  const names = status[list];
  return Array.isArray(names) ? (names as readonly Json[]).filter(name => typeof name === 'string') : [];
}

export interface Overridden {
  readonly original: Pod;
  /** What the templates alone gave. */
  readonly templatePod: Pod;
  readonly tproxy: boolean;
}

/** Lays the user's containers over the injected ones of `merged`. */
export function withOverrides(merged: Pod, { original, templatePod, tproxy }: Overridden): Pod {
  const status = annotated(original, STATUS);
  const kept = annotated(original, OVERRIDES);
  const found: { [list: string]: readonly Container[] } = {};
  let pod = merged;
  for (const list of LISTS) {
    const overrides = namesOf(containersOf(templatePod, list)).flatMap(name => {
      if (status !== undefined && injectedNames(status, list).includes(name)) return [];
      const own = listAt(kept, list).find(container => container.name === name) ?? userContainer(original, list, name);
      return own === undefined ? [] : [withoutAutoImage(own)];
    });
    for (const container of overrides) pod = strategicMerge(pod, { spec: { [list]: [container] } }, 'Pod');
    if (overrides.length > 0) found[list] = overrides;
  }
  const isFirst = annotationsOf(original)[STATUS] === undefined;
  if (isFirst && Object.keys(found).length > 0) {
    pod = withAnnotations(pod, { ...annotationsOf(pod), [OVERRIDES]: goJson(found, { keepsOrder: true }) });
  }
  return withUserOfProxy(pod, findContainer(original, PROXY), tproxy);
}

function userContainer(original: Pod, list: ContainerList, name: string): Container | undefined {
  if (list === 'initContainers') return findContainer(original, name);
  return containersOf(original, list).find(container => container.name === name);
}

function withoutAutoImage(container: Container): Container {
  const { image, ...rest } = container;
  return image === undefined || image === AUTO_IMAGE || image === '' ? rest : container;
}

/** Interception must leave out the traffic of the user that the proxy runs as. */
function withUserOfProxy(pod: Pod, userProxy: Container | undefined, tproxy: boolean): Pod {
  const { runAsUser, runAsGroup } = objectAt(userProxy, 'securityContext');
  if (runAsUser === undefined && runAsGroup === undefined) return pod;
  const initNames = namesOf(containersOf(pod, 'initContainers'));
  const init = [INIT, VALIDATION].find(name => initNames.includes(name));
  if (init === undefined) return pod;
  const inContext = (container: Container, members: JsonObject): Container => ({
    ...container,
    securityContext: { ...objectAt(container, 'securityContext'), ...members },
  });
  // With TPROXY the proxy must be root.
  const asRoot =
    tproxy && runAsUser !== undefined ? changeContainer(pod, PROXY, one => inContext(one, { runAsUser: 0 })) : pod;
  const sameUser = {
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
  };
  return changeContainer(asRoot, init, container => {
    const validated = !tproxy && init === VALIDATION ? inContext(container, sameUser) : container;
    return runAsUser === undefined || runAsUser === 0 ? validated : withUid(validated, runAsUser);
  });
}

function withUid(container: Container, uid: Json): Container {
  const args: readonly Json[] = Array.isArray(container.args) ? container.args : [];
  const at = args.indexOf('-u');
  return at < 0 || at + 1 >= args.length ? container : { ...container, args: args.with(at + 1, String(uid)) };
}
