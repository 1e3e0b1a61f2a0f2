// Injection of one pod: a pure function of the state and the request. Equal state and request give equal patches, so a
// log line with their digests says all there is to say about a decision.
//
// Order: decide, check annotations, render, lay the user's containers over, finish, compare.
// Source: Istio pkg/kube/inject/webhook.go (inject, injectPod).

import { type Either, isLeft, left, right } from 'fp-ts/lib/Either.js';
import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { Reader } from '../../core/query/reader.ts';
import {
  effectiveProxyConfig,
  PROXY_CONFIG_ANNOTATION,
  proxyConfigLevels,
} from '../../core/select/proxy/effective-proxy-config.ts';
import { annotationFault } from './annotations.ts';
import { decide } from './decide.ts';
import { finished } from './finish.ts';
import { proxyImage } from './images.ts';
import { detectsNativeSidecars } from './native.ts';
import { proxyIdsOf, withoutAppUser } from './openshift.ts';
import { overridesFault, templateInput, withOverrides } from './overrides.ts';
import { type Owner, ownerOf } from './owner.ts';
import { jsonPatch, type PatchOperation } from './patch.ts';
import { annotationsOf, labelsOf, objectAt, type Pod, type Texts, textAt } from './pod.ts';
import { rendered } from './render.ts';
import { type InjectorSetup, injectorSetup } from './setup.ts';
import { meshJson, templateData } from './template-data.ts';

export interface InjectRequest {
  /** As received. */
  readonly pod: JsonObject;
  /** The namespace of the request: a pod of a controller names none. */
  readonly namespace: string;
  /** Variables of the proxy that the path of the webhook names. */
  readonly env: Texts;
  /** What the pod belongs to, if it is the template of a workload; absent: its metadata says. */
  readonly owner?: Owner;
}

export type Injection =
  | { readonly kind: 'skipped'; readonly why: string }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'injected'; readonly patch: readonly PatchOperation[]; readonly pod: Pod };

/** `setup`: what to inject with, if not what the state has. Total. */
export function inject(reader: Reader, request: InjectRequest, setup = reader.get(injectorSetup, '')): Injection {
  if (isLeft(setup)) return { kind: 'refused', message: setup.left };
  const received = podOf(request);
  const decision = decide(received, setup.right);
  if (!decision.injects) return { kind: 'skipped', why: decision.why };
  const pod = withoutAppUser(reader, received);
  const injected = injectedPod(reader, pod, request, setup.right);
  if (isLeft(injected)) return { kind: 'refused', message: injected.left };
  return { kind: 'injected', patch: jsonPatch(received, injected.right), pod: injected.right };
}

/** With the namespace of the request, and without managedFields: they are large, and no template needs them. */
function podOf({ pod, namespace }: InjectRequest): Pod {
  const { managedFields: _, ...metadata } = objectAt(pod, 'metadata');
  return { ...pod, metadata: { ...metadata, namespace: textAt(pod, 'metadata', 'namespace') || namespace } };
}

function injectedPod(
  reader: Reader,
  pod: Pod,
  { env: pathEnv, owner }: InjectRequest,
  setup: InjectorSetup,
): Either<string, Pod> {
  const fault = annotationFault(annotationsOf(pod)) ?? overridesFault(pod);
  if (fault !== undefined) return left(`failed to run injection template: ${fault}`);
  const { values, injectedAnnotations } = setup;
  const { cluster, env } = whereabouts(pod, pathEnv, values);
  const mesh = meshJson(reader);
  const meshStatusPort = reader.mesh('defaultConfig').statusPort ?? 0;
  const revision = reader.setting('revision');
  const namespace = textAt(pod, 'metadata', 'namespace');
  const levels = proxyConfigLevels(reader, namespace);
  const annotation = annotationsOf(pod)[PROXY_CONFIG_ANNOTATION];
  const proxyConfig = effectiveProxyConfig(levels, { namespace, labels: labelsOf(pod), annotation });
  const detected = detectsNativeSidecars(
    reader,
    cluster || reader.setting('clusterId'),
    textAt(pod, 'spec', 'nodeName'),
  );
  const data = templateData({
    pod: templateInput(pod, meshStatusPort),
    owner: owner ?? ownerOf(pod),
    proxyConfig,
    mesh,
    values,
    revision,
    native: detected,
    image: proxyImage(values, proxyConfig.image, annotationsOf(pod)),
    compliancePolicy: reader.feature('COMPLIANCE_POLICY'),
    ids: proxyIdsOf(reader, pod),
  });
  const asked = annotationsOf(pod)['sidecar.istio.io/nativeSidecar'];
  const native = asked === 'true' || (asked !== 'false' && detected);
  const result = rendered(pod, data, setup, native);
  if (isLeft(result)) return left(`failed to run injection template: ${result.left}`);
  const { merged, templatePod } = result.right;
  const mode = annotationsOf(merged)['sidecar.istio.io/interceptionMode'];
  const tproxy = proxyConfig.interceptionMode === 'TPROXY' || mode === 'TPROXY';
  const overridden = withOverrides(merged, { original: pod, templatePod, tproxy });
  return right(
    finished(overridden, {
      templatePod,
      env,
      meshStatusPort,
      mergesMetrics: reader.mesh('enablePrometheusMerge'),
      rewritesProbes: objectAt(values, 'sidecarInjectorWebhook').rewriteAppHTTPProbe === true,
      holdsApplication: holds(reader, pod, values),
      revision,
      injectedAnnotations,
    }),
  );
}

/** The values < the path of the webhook < for the network, the pod's label. */
function whereabouts(pod: Pod, pathEnv: Texts, values: JsonObject): { readonly cluster: string; readonly env: Texts } {
  const cluster = pathEnv.ISTIO_META_CLUSTER_ID || textAt(values, 'global', 'multiCluster', 'clusterName');
  const network =
    labelsOf(pod)['topology.istio.io/network'] ?? (pathEnv.ISTIO_META_NETWORK || textAt(values, 'global', 'network'));
  const env = {
    ...pathEnv,
    ...(cluster === '' ? {} : { ISTIO_META_CLUSTER_ID: cluster }),
    ...(network === '' ? {} : { ISTIO_META_NETWORK: network }),
  };
  return { cluster, env };
}

/** ProxyConfig objects do not count here, as in istiod: the annotation and the mesh do. */
function holds(reader: Reader, pod: Pod, values: JsonObject): boolean {
  const general = reader.mesh('defaultConfig').holdApplicationUntilProxyStarts;
  const annotation = annotationsOf(pod)[PROXY_CONFIG_ANNOTATION];
  const levels = { ...proxyConfigLevels(reader, ''), objects: [] };
  const own = effectiveProxyConfig(levels, { namespace: '', labels: {}, annotation }).holdApplicationUntilProxyStarts;
  const ofValues = objectAt(values, 'global', 'proxy').holdApplicationUntilProxyStarts;
  return (annotation === undefined ? general : own) === true || ofValues === true;
}

/** For callers that have a JSON value of unknown shape. */
export function isPod(value: unknown): value is JsonObject {
  return isObject(value);
}
