// The network that ambient mode takes the config cluster for: the label of its system namespace alone. Neither
// meshNetworks nor labels of pods count.
// Source: Istio pilot/pkg/serviceregistry/ambient/networks.go (FetchLocalNetworkID).

import { NETWORK_LABEL } from '../../base/labels.ts';
import type { Query } from '../../query/reader.ts';

/** Argument ''. Empty: it has no name. */
export const localNetwork: Query<'', string> = {
  name: 'select/ambient/localNetwork',
  run: reader => {
    const system = `${reader.setting('clusterId')}/${reader.setting('systemNamespace')}`;
    return reader.object('Namespace', system)?.labels[NETWORK_LABEL] ?? '';
  },
};
