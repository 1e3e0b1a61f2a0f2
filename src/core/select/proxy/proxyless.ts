// Whether a client is a gRPC program without a proxy: it names the generator `grpc` in its node metadata, and gets
// listeners, routes and clusters in the form that gRPC's own xDS client understands.
// Source: Istio pilot/pkg/model/context.go (IsProxylessGrpc).

import type { ProxyReader } from '../../query/reader.ts';
import { metadataText } from './proxy-metadata.ts';

/** The value of the metadata key GENERATOR that such a client sends. */
export const GRPC_GENERATOR = 'grpc';

export function isProxyless(reader: ProxyReader): boolean {
  return reader.derived(proxyless);
}

const proxyless = {
  name: 'select/proxyless',
  run: (reader: ProxyReader): boolean => metadataText(reader, 'GENERATOR') === GRPC_GENERATOR,
};
