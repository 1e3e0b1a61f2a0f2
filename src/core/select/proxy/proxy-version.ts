// The features that a proxy's version supports.

import type { ProxyReader } from '../../query/reader.ts';

/** True if the proxy's Istio version is at least major.minor; unknown versions count as the newest. */
export function atLeast(reader: ProxyReader, major: number, minor: number): boolean {
  const [proxyMajor, proxyMinor] = reader.facet('version');
  return proxyMajor > major || (proxyMajor === major && proxyMinor >= minor);
}
