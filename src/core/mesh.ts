// Mesh configuration: MeshConfig and MeshNetworks, from what a source said to what is in force.
// Merge rules: spec-events-pushes-protocol §10.2 (Istio pkg/config/mesh/mesh.go ApplyMeshConfig).

import type { Json, JsonObject } from './json.ts';
import type { Origin, Problem } from './problem.ts';

export type MeshConfig = { readonly rootNamespace: string; readonly trustDomain: string } & JsonObject;
export type MeshNetworks = JsonObject;

/** The value in force, and beside it a newer one that was refused. */
export interface Applied<T> {
  readonly effective: T;
  /** As received; undefined while no source said anything. */
  readonly raw: Json | undefined;
  readonly at: number;
  readonly refused?: { readonly at: number; readonly problems: readonly Problem[]; readonly origin?: Origin };
}
