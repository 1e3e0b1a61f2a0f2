// The image of the proxy: hub, name and tag of the values, with the variant that the ProxyConfig or an annotation asks
// for. Source: Istio pkg/kube/inject/inject.go (ProxyImage, updateImageTypeIfPresent).

import type { JsonObject } from '../../core/base/json.ts';
import { objectAt, type Texts, textAt } from './pod.ts';

const VARIANTS: readonly string[] = ['distroless', 'debug'];
const IMAGE_TYPE = 'sidecar.istio.io/proxyImageType';

/** `image`: of the ProxyConfig; one without a type resets the variant of the values. */
export function proxyImage(
  values: JsonObject,
  image: { readonly imageType?: string } | undefined,
  annotations: Texts,
): string {
  const { hub = '', tag = '' } = objectAt(values, 'global');
  const variant =
    annotations[IMAGE_TYPE] ?? (image === undefined ? textAt(values, 'global', 'variant') : (image.imageType ?? ''));
  const name = textAt(values, 'global', 'proxy', 'image') || 'proxyv2';
  return `${String(hub)}/${name}:${tagOf(String(tag), variant)}`;
}

function tagOf(tag: string, variant: string): string {
  if (variant === '') return tag;
  const known = VARIANTS.find(one => tag.endsWith(`-${one}`));
  const plain = known === undefined ? tag : tag.slice(0, -(known.length + 1));
  return variant === 'default' ? plain : `${plain}-${variant}`;
}
