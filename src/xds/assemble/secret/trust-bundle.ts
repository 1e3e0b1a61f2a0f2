// What agents are told of the roots of the mesh (PCDS); nothing unless the mesh has several roots.
// Source: Istio pilot/pkg/xds/pcds.go (PcdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { agentRoots } from '../../../core/select/secret/mesh-roots.ts';
import { trustBundle } from '../../generate/secret/trust-bundle.ts';
import type { ProxyConfig } from '../../proto/types.gen.ts';

export const trustBundles: Query<'', readonly Resource<ProxyConfig>[]> = {
  name: 'secret/trustBundles',
  run: reader => {
    const roots = reader.get(agentRoots, '');
    return roots === undefined ? [] : [reader.make(trustBundle, { roots })];
  },
};
