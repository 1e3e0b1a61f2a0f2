// Node metadata as Istio reads it: booleans and numbers count as their text.

import type { ProxyReader } from '../../query/reader.ts';
import { proxyHeaders } from './proxy-config.ts';

/** The value as text; empty if it is absent or not a scalar. */
export function metadataString(reader: ProxyReader, key: string): string {
  const value = reader.metadata(key);
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** Of keys that Istio does not know the type of: only the text `true` counts, no boolean. */
export function saysTrue(reader: ProxyReader, key: 'credential' | 'file-credential'): boolean {
  return reader.metadata(key) === 'true';
}

/**
 * The case of HTTP/1.1 header names is to be kept: the proxy's own ProxyConfig if it sent one, else the mesh's default.
 */
export function preservesHeaderCase(reader: ProxyReader): boolean {
  return reader.derived(proxyHeaders).preserveHttp1HeaderCase === true;
}
