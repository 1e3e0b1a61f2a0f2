// The trust domain of the mesh, as MeshConfig has it in a state.
//
// Identity reads it at each use: it may change while the process runs.

import type { State } from '../core/state.ts';

/** The mesh's own trust domain and its aliases. */
export function meshTrustDomains(state: State | undefined): readonly string[] {
  return [meshTrustDomain(state), ...(state?.mesh.effective.trustDomainAliases ?? [])];
}

/** `cluster.local` if nothing else is configured, or no state is known yet. */
export function meshTrustDomain(state: State | undefined): string {
  const domain = state?.mesh.effective.trustDomain;
  return typeof domain === 'string' && domain !== '' ? domain : 'cluster.local';
}
