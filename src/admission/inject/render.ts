// Renders the templates of a pod and lays each on it. Two results: the pod with everything, and what the templates
// alone give, by which injected parts are known. Source: Istio pkg/kube/inject/inject.go (RunTemplate).

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { objectsOf } from '../../core/base/yaml-objects.ts';
import { strategicMerge } from '../template/strategic-merge.ts';
import { runTemplate } from '../template/template.ts';
import type { Value } from '../template/value.ts';
import { annotationsOf, containersOf, type Pod, PROXY, withContainers } from './pod.ts';
import type { InjectorSetup } from './setup.ts';

export interface Rendered {
  readonly merged: Pod;
  readonly templatePod: Pod;
}

const TEMPLATES = 'inject.istio.io/templates';
/** Templates of one pod; each costs a rendering and two merges. */
export const TEMPLATES_MAX = 20;

export function rendered(pod: Pod, data: Value, setup: InjectorSetup, native: boolean): Either<string, Rendered> {
  let merged = pod;
  let templatePod: Pod = {};
  const names = templateNames(pod, setup);
  if (names.length > TEMPLATES_MAX) return left(`${names.length} templates, at most ${TEMPLATES_MAX} are rendered`);
  for (const name of names) {
    const template = Object.hasOwn(setup.templates, name) ? setup.templates[name] : undefined;
    if (template === undefined) {
      return left(`requested template "${name}" not found; have ${Object.keys(setup.templates).sort().join(', ')}`);
    }
    const text = runTemplate(template, data);
    if (isLeft(text)) return left(`template ${name}: ${text.left}`);
    const documents = objectsOf(text.right);
    if (isLeft(documents)) return left(`failed applying injection overlay: template ${name}: ${documents.left}`);
    const overlay = documents.right[0] ?? {};
    templatePod = strategicMerge(templatePod, overlay, 'Pod');
    merged = strategicMerge(native ? withMovedProxy(merged, templatePod) : merged, overlay, 'Pod');
  }
  return right({ merged, templatePod });
}

function templateNames(pod: Pod, { defaultTemplates, aliases }: InjectorSetup): readonly string[] {
  const asked = annotationsOf(pod)[TEMPLATES];
  const names = asked === undefined ? defaultTemplates : asked.split(',').map(name => name.trim());
  return names.flatMap(name => (Object.hasOwn(aliases, name) ? aliases[name]! : [name]));
}

/** A user's istio-proxy goes where the template has its own. */
function withMovedProxy(pod: Pod, templatePod: Pod): Pod {
  const containers = containersOf(pod, 'containers');
  const proxy = containers.find(({ name }) => name === PROXY);
  if (proxy === undefined || !containersOf(templatePod, 'initContainers').some(({ name }) => name === PROXY))
    return pod;
  const kept = withContainers(
    pod,
    'containers',
    containers.filter(container => container !== proxy),
  );
  return withContainers(kept, 'initContainers', [...containersOf(pod, 'initContainers'), proxy]);
}
