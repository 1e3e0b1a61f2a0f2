// AdmissionReview, both versions: what is asked, and the answer in the version of the question. A body that is no
// review is answered too, with a refusal in v1beta1, as istiod does (Istio pkg/kube/adapter.go): the API server shows
// its message to the user.

import { base64OfText } from '../../core/base/base64.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { goJson } from '../template/go-json.ts';

const GROUP = 'admission.k8s.io';
const VERSIONS: readonly string[] = [`${GROUP}/v1`, `${GROUP}/v1beta1`];

export interface AdmissionRequest {
  readonly apiVersion: string;
  /** '' is fine: istioctl kube-inject sends none. */
  readonly uid: string;
  readonly operation: string;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly object: Json;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface AdmissionAnswer {
  readonly allowed: boolean;
  readonly message?: string;
  /** RFC 6902 */
  readonly patch?: Json;
  readonly warnings?: readonly string[];
}

/** The request of a review, or, as text, why the body is not an AdmissionReview. */
export function parseReview(body: string): AdmissionRequest | string {
  let review: Json;
  try {
    review = JSON.parse(body) as Json;
  } catch {
    return 'could not decode body: it is not JSON';
  }
  if (!isObject(review) || review.kind !== 'AdmissionReview' || !VERSIONS.includes(String(review.apiVersion))) {
    return `could not decode body: expected AdmissionReview of ${VERSIONS.join(' or ')}`;
  }
  const { request } = review;
  if (!isObject(request)) return 'could not decode object: the review has no request';
  const resource = isObject(request.resource) ? request.resource : {};
  return {
    apiVersion: String(review.apiVersion),
    uid: textOf(request.uid),
    operation: textOf(request.operation),
    namespace: textOf(request.namespace),
    dryRun: request.dryRun === true,
    object: request.object ?? null,
    group: textOf(resource.group),
    version: textOf(resource.version),
    resource: textOf(resource.resource),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** `request`: undefined if the body was no review. */
export function reviewText(request: AdmissionRequest | undefined, answer: AdmissionAnswer): string {
  const { allowed, message, patch, warnings = [] } = answer;
  const response: JsonObject = {
    uid: request?.uid ?? '',
    allowed,
    ...(message === undefined ? {} : { status: { metadata: {}, message } }),
    ...(patch === undefined ? {} : { patch: base64OfText(goJson(patch)), patchType: 'JSONPatch' }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  const head = { kind: 'AdmissionReview', apiVersion: request?.apiVersion ?? `${GROUP}/v1beta1` };
  return goJson({ ...head, response }, { keepsOrder: true });
}
