// What no template can say: variables from the webhook's path, scraping, probes, the status annotation, and the order
// of containers. Source: Istio pkg/kube/inject/webhook.go (postProcessPod).

import { goBoolean } from '../../core/base/go-boolean.ts';
import type { JsonObject } from '../../core/base/json.ts';
import { goJson } from '../template/go-json.ts';
import { STATUS } from './overrides.ts';
import {
  annotationsOf,
  CORE_DUMP,
  type Container,
  changeContainer,
  containersOf,
  findContainer,
  INIT,
  labelsOf,
  listAt,
  namesOf,
  type Pod,
  PROXY,
  type Texts,
  VALIDATION,
  withAnnotations,
  withContainers,
  withMetadata,
} from './pod.ts';
import { appProbers, mergedProbers, withRewrittenProbes } from './probes.ts';
import { withMergedMetrics } from './prometheus.ts';

export interface FinishInputs {
  readonly templatePod: Pod;
  /** Variables of the proxy, given by the path of the webhook and by the values. */
  readonly env: Texts;
  readonly meshStatusPort: number;
  readonly mergesMetrics: boolean;
  readonly rewritesProbes: boolean;
  readonly holdsApplication: boolean;
  readonly revision: string;
  readonly injectedAnnotations: Texts;
}

const NETWORK_LABEL = 'topology.istio.io/network';
const REWRITE = 'sidecar.istio.io/rewriteAppHTTPProbers';
const STATUS_PORT = 'status.sidecar.istio.io/port';
const PROBERS = 'ISTIO_KUBE_APP_PROBERS';

export function finished(pod: Pod, inputs: FinishInputs): Pod {
  const withEnv = changeContainer(pod, PROXY, proxy => withVariables(proxy, inputs.env));
  const scraped = withMergedMetrics(withEnv, inputs.meshStatusPort, inputs.mergesMetrics);
  return ordered(withStatus(withProbes(scraped, inputs), inputs), inputs.holdsApplication);
}

/** Last, in the order of their names. */
function withVariables(proxy: Container, env: Texts): Container {
  const names = Object.keys(env).sort();
  if (names.length === 0) return proxy;
  const others = listAt(proxy, 'env').filter(({ name }) => !names.includes(String(name)));
  return { ...proxy, env: [...others, ...names.map(name => ({ name, value: env[name]! }))] };
}

function withProbes(pod: Pod, { meshStatusPort, rewritesProbes }: FinishInputs): Pod {
  const annotations = annotationsOf(pod);
  const rewrites = goBoolean(annotations[REWRITE]) ?? rewritesProbes;
  if (!rewrites || findContainer(pod, PROXY) === undefined) return pod;
  const probers = appProbers(pod, meshStatusPort);
  const isAgain = annotations[STATUS] !== undefined;
  const told = probers === '' ? pod : changeContainer(pod, PROXY, proxy => withProbers(proxy, probers, isAgain));
  const stated = annotations[STATUS_PORT];
  const port = stated === undefined ? meshStatusPort : /^[-+]?[0-9]+$/.test(stated) ? Number(stated) : 0;
  return withRewrittenProbes(told, port);
}

function withProbers(proxy: Container, probers: string, isAgain: boolean): Container {
  const env = listAt(proxy, 'env');
  const at = isAgain ? env.findIndex(({ name }) => name === PROBERS) : -1;
  if (at < 0) return { ...proxy, env: [...env, { name: PROBERS, value: probers }] };
  return {
    ...proxy,
    env: env.with(at, { name: PROBERS, value: mergedProbers(String(env[at]!.value ?? ''), probers) }),
  };
}

function withStatus(pod: Pod, { templatePod, env, revision, injectedAnnotations }: FinishInputs): Pod {
  const names = (list: readonly JsonObject[]): readonly string[] | null => (list.length === 0 ? null : namesOf(list));
  const status = goJson(
    {
      initContainers: names(containersOf(templatePod, 'initContainers')),
      containers: names(containersOf(templatePod, 'containers')),
      volumes: names(listAt(templatePod, 'spec', 'volumes')),
      imagePullSecrets: names(listAt(templatePod, 'spec', 'imagePullSecrets')),
      revision: revision || 'default',
    },
    { keepsOrder: true },
  );
  const network = env.ISTIO_META_NETWORK;
  const labelled =
    network === undefined ? pod : withMetadata(pod, { labels: { ...labelsOf(pod), [NETWORK_LABEL]: network } });
  return withAnnotations(labelled, { ...annotationsOf(labelled), [STATUS]: status, ...injectedAnnotations });
}

function ordered(pod: Pod, holdsApplication: boolean): Pod {
  const [containers, inits] = [containersOf(pod, 'containers'), containersOf(pod, 'initContainers')];
  const isNative = namesOf(inits).includes(PROXY);
  // A native sidecar serves the init containers after it; without one, interception begins when they are done.
  const first = isNative ? [INIT, VALIDATION, PROXY, CORE_DUMP] : [VALIDATION];
  const last = isNative ? [] : [INIT, CORE_DUMP];
  const placed = withContainers(
    pod,
    'containers',
    arranged(containers, holdsApplication ? [PROXY] : [], holdsApplication ? [] : [PROXY]),
  );
  return withContainers(placed, 'initContainers', arranged(inits, first, last));
}

function arranged(
  containers: readonly Container[],
  first: readonly string[],
  last: readonly string[],
): readonly Container[] {
  const ofNames = (names: readonly string[]): readonly Container[] =>
    names.flatMap(name => containers.filter(container => container.name === name).slice(-1));
  const rest = containers.filter(({ name }) => ![...first, ...last].includes(String(name)));
  return [...ofNames(first), ...rest, ...ofNames(last)];
}
