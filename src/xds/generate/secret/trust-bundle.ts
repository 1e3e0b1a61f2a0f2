// The roots of the mesh for the agent of a proxy (PCDS): one resource, which agents read without its name.
// Source: Istio pilot/pkg/xds/pcds.go (PcdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyConfig } from '../../proto/types.gen.ts';

const BUNDLE_NAME = 'ProxyConfig';

export const trustBundle: Generator<{ readonly roots: readonly string[] }, Resource<ProxyConfig>> = {
  name: 'secret/trustBundle',
  run: ({ roots }) => ({ name: BUNDLE_NAME, message: { caCertificatesPem: roots }, problems: [] }),
};
