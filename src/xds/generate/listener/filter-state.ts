// Filters that keep facts about a tunnel for what comes after them: where its traffic goes, and who its two ends are.
// Source: Istio pilot/pkg/xds/filters/filters.go, pilot/pkg/networking/core/listener.go.

import type { FilterStateFactory } from '../../../core/select/listener/tunnels.ts';
import { any } from '../../proto/any.ts';
import {
  type Filter,
  type FilterStateValue,
  type HttpFilter,
  FilterStateValue_SharedWithUpstream as Shared,
} from '../../proto/types.gen.ts';

const LOCAL_ADDRESS = 'envoy.filters.listener.original_dst.local_ip';
const REMOTE_ADDRESS = 'envoy.filters.listener.original_dst.remote_ip';
/** The address that a tunnel in a tunnel leads to. */
const INNER_TARGET = 'istio.double_hbone.hbone_target_address';
export const innerTarget = `%FILTER_STATE(${INNER_TARGET}:PLAIN)%`;

function kept(objectKey: string, format: string, shared: Shared, factoryKey?: string): FilterStateValue {
  return {
    objectKey,
    formatString: { textFormatSource: { inlineString: format } },
    sharedWithUpstream: shared,
    factoryKey,
  };
}

function authorityOf(factory: FilterStateFactory): HttpFilter {
  return {
    name: 'connect_authority',
    typedConfig: any('envoy.extensions.filters.http.set_filter_state.v3.Config', {
      onRequestHeaders: [
        kept(LOCAL_ADDRESS, '%REQ(:AUTHORITY)%', Shared.ONCE),
        kept('io.istio.connect_authority', '%REQ(:AUTHORITY)%', Shared.ONCE, factory),
        kept(REMOTE_ADDRESS, '%DOWNSTREAM_REMOTE_ADDRESS%', Shared.ONCE),
        kept('io.istio.peer_principal', '%DOWNSTREAM_PEER_URI_SAN%', Shared.ONCE, factory),
        kept('io.istio.local_principal', '%DOWNSTREAM_LOCAL_URI_SAN%', Shared.ONCE, factory),
      ],
    }),
  };
}

/** Where a tunnel ends: what its request says of it. */
export const connectAuthority: Readonly<Record<FilterStateFactory, HttpFilter>> = {
  'istio.hashable_string': authorityOf('istio.hashable_string'),
  'envoy.string': authorityOf('envoy.string'),
};

/** The tunnel's destination, for the next tunnel to it. */
export const keptDestination: Filter = {
  name: 'connect_authority',
  typedConfig: any('envoy.extensions.filters.network.set_filter_state.v3.Config', {
    onNewConnection: [kept(LOCAL_ADDRESS, `%FILTER_STATE(${LOCAL_ADDRESS}:PLAIN)%`, Shared.ONCE)],
  }),
};

function endpointOf(factory: FilterStateFactory): Filter {
  return {
    name: 'propagate_endpoint_metadata',
    typedConfig: any('envoy.extensions.filters.network.set_filter_state.v3.Config', {
      onNewConnection: [
        kept(LOCAL_ADDRESS, '%DYNAMIC_METADATA(envoy.filters.listener.original_dst:local)%', Shared.TRANSITIVE),
        kept(INNER_TARGET, '%DYNAMIC_METADATA(istio:double_hbone:hbone_target_address)%', Shared.TRANSITIVE, factory),
      ],
    }),
  };
}

/** The endpoint in another network, for the tunnel inside and for the one around it. */
export const endpointMetadata: Readonly<Record<FilterStateFactory, Filter>> = {
  'istio.hashable_string': endpointOf('istio.hashable_string'),
  'envoy.string': endpointOf('envoy.string'),
};
