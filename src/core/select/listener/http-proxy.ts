// The listener for applications that use the sidecar as an HTTP proxy: its port, from the proxy's metadata, else from
// MeshConfig.
// Source: Istio pilot/pkg/networking/core/listener.go (buildHTTPProxy).

import type { ProxyReader } from '../../query/reader.ts';
import { metadataText } from '../proxy/proxy-config.ts';
import { meshPort } from './listener-addresses.ts';

/** 0: no such listener. */
export function httpProxyPort(reader: ProxyReader): number {
  const requested = metadataText(reader, 'HTTP_PROXY_PORT');
  return /^[0-9]+$/.test(requested) ? Number(requested) : meshPort(reader, 'proxyHttpPort');
}
