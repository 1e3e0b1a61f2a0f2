// The kinds whose cost is looked at, each with a small valid object that the connected proxies use, as a template
// (template.ts). Beside it stands what the constraints of the kind leave open.

import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Constraint } from '../../src/core/schema/constraints.ts';
import { shapeOf } from './fields.ts';
import type { Elements } from './grow.ts';
import { gatewayApiKinds } from './kinds-gateway-api.ts';
import { istioKinds } from './kinds-istio.ts';
import { kubernetesKinds } from './kinds-kubernetes.ts';

export interface KindCase {
  /** As in the registry of kinds. */
  readonly kind: string;
  /** A template without metadata. */
  readonly object: JsonObject;
  /** Where the name decides what an object means; otherwise `x%`. */
  readonly name?: string;
  readonly clusterScoped?: true;
  readonly labels?: JsonObject;
  readonly exclusive?: readonly (readonly string[])[];
  readonly elements?: Elements;
  /** Elements that a valid object has at most, by the field, beyond what constraints say. */
  readonly most?: Readonly<Record<string, number>>;
  /** Of the members beside apiVersion, kind and metadata; by the example if absent. */
  readonly constraint?: Constraint;
}

export const kindCases: readonly KindCase[] = [...istioKinds, ...kubernetesKinds, ...gatewayApiKinds];

export function constraintOf({ object, constraint }: KindCase): Constraint {
  if (constraint !== undefined) return constraint;
  const { apiVersion: _, kind: __, ...members } = object;
  return shapeOf(members as Json);
}
