// Compares a proxy's Istio version with the release that introduced a feature.

import type { ProxyReader } from '../../query/reader.ts';

/** True if the proxy's Istio version is at least major.minor; unknown versions count as the newest. */
export function atLeast(reader: ProxyReader, major: number, minor: number): boolean {
  const [proxyMajor, proxyMinor] = reader.facet('version');
  return proxyMajor > major || (proxyMajor === major && proxyMinor >= minor);
}

/** True if the proxy's Istio version is at least major.minor.patch. */
export function isPatchedSince(reader: ProxyReader, major: number, minor: number, patch: number): boolean {
  const [proxyMajor, proxyMinor, proxyPatch] = reader.facet('version');
  if (proxyMajor !== major || proxyMinor !== minor) return atLeast(reader, major, minor);
  return proxyPatch >= patch;
}
