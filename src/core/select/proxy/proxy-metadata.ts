// Node metadata as Istio reads it: booleans and numbers count as their text.

import { goBoolean } from '../../base/go-boolean.ts';
import { scalarText } from '../../model/proxy.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { proxyHeaders } from './proxy-config.ts';

/** The value as text; empty if it is absent or not a scalar. */
export function metadataText(reader: ProxyReader, key: string): string {
  return scalarText(reader.metadata(key));
}

/** A metadata value that Go's strconv.ParseBool or JSON takes for true. */
export function metadataFlag(reader: ProxyReader, key: string): boolean {
  return goBoolean(metadataText(reader, key)) === true;
}

/** For keys without a type in Istio: only the text `true` counts, no boolean. */
export function isTrueText(reader: ProxyReader, key: 'credential' | 'file-credential'): boolean {
  return reader.metadata(key) === 'true';
}

/**
 * The case of HTTP/1.1 header names is to be kept: the proxy's own ProxyConfig if it sent one, else the mesh's default.
 */
export function preservesHeaderCase(reader: ProxyReader): boolean {
  return reader.derived(proxyHeaders).preserveHttp1HeaderCase === true;
}
