// States for tests of injection: an installation without objects, and with those that a test gives.

import { type Injection, inject } from '../../../../src/admission/inject/inject.ts';
import type { Texts } from '../../../../src/admission/inject/pod.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { RawObject, Unrecorded } from '../../../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import { untrackedReader } from '../../../../src/core/query/untracked.ts';
import type { State } from '../../../../src/core/state.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

export interface Installed {
  readonly objects?: readonly RawObject[];
  /** Objects of the cluster c2. */
  readonly remote?: readonly RawObject[];
  readonly env?: Texts;
  readonly mesh?: RawObject;
  readonly revision?: string;
}

export function stateWith({ objects = [], remote = [], env = {}, mesh, revision = '' }: Installed = {}): State {
  const settings = settingsToJson({ ...defaultSettings, env, revision });
  const facts: Unrecorded[] = [{ source: 'runtime', kind: 'Engine', settings }];
  if (mesh !== undefined) facts.push({ source: 'kube/Kubernetes', kind: 'MeshConfig', value: mesh });
  for (const object of objects) facts.push({ source: 'kube/Kubernetes', kind: 'Add', object });
  for (const object of remote) facts.push({ source: 'kube/c2', kind: 'Add', object });
  return foldFacts(facts).state;
}

export function injection(pod: JsonObject, installed: Installed = {}, env: Texts = {}): Injection {
  return inject(untrackedReader(stateWith(installed)), { pod, namespace: 'shop', env });
}

/** The injected pod; fails where there is none. */
export function injectedPod(pod: JsonObject, installed: Installed = {}, env: Texts = {}): JsonObject {
  const result = injection(pod, installed, env);
  if (result.kind !== 'injected') throw new Error(result.kind === 'refused' ? result.message : result.why);
  return result.pod;
}

export function podWith(metadata: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'cart-1', labels: { app: 'cart' }, ...metadata },
    spec: { containers: [{ name: 'app', image: 'cart:2', ports: [{ name: 'http', containerPort: 8080 }] }], ...spec },
  };
}

export function configMap(config: string, values = '{}', name = 'istio-sidecar-injector'): RawObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'istio-system' },
    data: { config, values },
  };
}

export const node = (name: string, kubeletVersion: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { nodeInfo: { kubeletVersion } },
});
