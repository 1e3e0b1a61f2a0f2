// A fault of an object of the Gateway API, in the words of its status: the reason of a condition and a message.
// Source: Istio pilot/pkg/config/kube/gateway/conditions.go.

import { canonicalJson } from '../../base/json.ts';

export interface ConfigError {
  readonly reason: string;
  readonly message: string;
}

export function configError(reason: string, message: string): ConfigError {
  return { reason, message };
}

/** Both messages under the first reason. */
export function joinErrors(a: ConfigError | undefined, b: ConfigError | undefined): ConfigError | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : { reason: a.reason, message: `${a.message}; ${b.message}` };
}

/** Soft errors of a backend: the rule stays, and its share of requests fails. Every other error takes the route. */
export const REF_NOT_PERMITTED = 'RefNotPermitted';
export const BACKEND_NOT_FOUND = 'BackendNotFound';
export const INVALID_KIND = 'InvalidKind';
export const INVALID_DESTINATION = 'InvalidDestination';
export const INVALID_FILTER = 'InvalidFilter';
export const INVALID_CONFIGURATION = 'InvalidConfiguration';

export function isSoft({ reason }: ConfigError): boolean {
  return reason === REF_NOT_PERMITTED || reason === BACKEND_NOT_FOUND || reason === INVALID_KIND;
}

/** A name in a message, in full: as Go's %q writes it. */
export function quoted(text: string): string {
  return canonicalJson(text);
}
