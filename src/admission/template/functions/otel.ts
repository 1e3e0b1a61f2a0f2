// Resource attributes of OpenTelemetry for a workload, if a provider of the mesh asks for its semantic conventions.
// Source: Istio pkg/kube/inject/template.go (otelResourceAttributes), OpenTelemetry k8s attributes, "Service".

import { isObject, type Json } from '../../../core/base/json.ts';

export interface OtelInputs {
  readonly mesh: Json;
  readonly annotations: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly namespace: string;
  readonly containers: readonly Json[];
}

const ANNOTATION = 'resource.opentelemetry.io/';

export function otelAttributes({ mesh, annotations, labels, namespace, containers }: OtelInputs): string {
  if (!asksForConventions(mesh)) return '';
  const [first] = containers;
  const stated = (name: string): string => annotations.get(`${ANNOTATION}service.${name}`) ?? '';
  const version =
    labels.get('app.kubernetes.io/version') || (containers.length === 1 ? imageVersion(text(first, 'image')) : '');
  const instance = first === undefined ? '' : `${namespace}.$(POD_NAME).${text(first, 'name')}`;
  const attributes: readonly (readonly [string, string])[] = [
    ['namespace', stated('namespace') || namespace],
    ['version', stated('version') || version],
    ['instance.id', stated('instance.id') || instance],
  ];
  return attributes
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `service.${name}=${value}`)
    .join(',');
}

function asksForConventions(mesh: Json): boolean {
  const providers = isObject(mesh) ? mesh.extensionProviders : undefined;
  if (!Array.isArray(providers)) return false;
  return (providers as readonly Json[]).some(
    provider =>
      isObject(provider) &&
      isObject(provider.opentelemetry) &&
      provider.opentelemetry.serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS',
  );
}

function text(container: Json | undefined, member: string): string {
  const found = isObject(container) ? container[member] : undefined;
  return typeof found === 'string' ? found : '';
}

/** `1.21`, `sha256:…` or `1.21@sha256:…` of `[registry[:port]/]name[:tag][@digest]`. */
function imageVersion(image: string): string {
  const at = image.indexOf('@');
  const [named, digest] = at < 0 ? [image, ''] : [image.slice(0, at), image.slice(at + 1)];
  const colon = named.lastIndexOf(':');
  const tag = colon > named.lastIndexOf('/') ? named.slice(colon + 1) : '';
  return [tag, digest].filter(part => part !== '').join('@');
}
