// Metadata of a cluster for Istio's telemetry and istioctl: service, rule, subset.
// Source: Istio pilot/pkg/networking/util/util.go, pilot/pkg/networking/core/cluster_builder.go.

import type { Json, JsonObject } from '../../../core/base/json.ts';
import type { Metadata } from '../../proto/types.gen.ts';

export interface DescribedService {
  readonly host: string;
  readonly name: string;
  readonly namespace: string;
}

export function istioMetadata(fields: Readonly<Record<string, Json | undefined>>): Metadata | undefined {
  const istio: Record<string, Json> = {};
  let empty = true;
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    istio[name] = value;
    empty = false;
  }
  return empty ? undefined : { filterMetadata: { istio } };
}

/** Path of the rule in the Kubernetes API. */
export function rulePath(namespace: string, name: string): string {
  return `/apis/networking.istio.io/v1/namespaces/${namespace}/destination-rule/${name}`;
}

export function describedServices(services: readonly DescribedService[]): readonly JsonObject[] {
  return services.map(({ host, name, namespace }) => ({ host, name, namespace }));
}
