// Endpoint pickers of InferencePools: the filter that asks one, which is quiet on its own, what a route says to make it
// ask, and the load balancing that follows the answer.
//
// The picker reads the body of a request, where the model stands, and names an endpoint in the metadata `envoy.lb`.
// Source: Istio pilot/pkg/xds/filters/filters.go (InferencePoolExtProc), pilot/pkg/networking/core/route/route.go
// (translateRoute), pilot/pkg/networking/core/cluster_builder.go (applyOverrideHostPolicy).

import { outboundClusterName } from '../../../core/select/cluster/cluster-names.ts';
import type { EndpointPicker } from '../../../core/translate/gateway-api/endpoint-picker.ts';
import { type AnyMessage, any } from '../../proto/any.ts';
import {
  type HttpFilter,
  type LoadBalancingPolicy,
  ProcessingMode_BodySendMode,
  ProcessingMode_HeaderSendMode,
} from '../../proto/types.gen.ts';

export const PICKER_FILTER = 'envoy.filters.http.ext_proc';
const METADATA = 'envoy.lb';
const CHOSEN = 'x-gateway-destination-endpoint';
const SERVED = 'x-gateway-destination-endpoint-served';
const PICKER_TIMEOUT = { seconds: 10, nanos: 0 };
const MESSAGE_TIMEOUT = { seconds: 1_000, nanos: 0 };

/** Does nothing on routes without a picker. */
export const pickerFilter: HttpFilter = {
  name: PICKER_FILTER,
  typedConfig: any('envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor', {
    // Never called: each route with a picker names its cluster.
    grpcService: { envoyGrpc: { clusterName: 'dummy' }, timeout: PICKER_TIMEOUT },
    failureModeAllow: true,
    processingMode: {
      requestHeaderMode: ProcessingMode_HeaderSendMode.SKIP,
      responseHeaderMode: ProcessingMode_HeaderSendMode.SKIP,
    },
    messageTimeout: MESSAGE_TIMEOUT,
    metadataOptions: {
      forwardingNamespaces: { untyped: [METADATA] },
      receivingNamespaces: { untyped: [METADATA] },
    },
  }),
};

export function pickerConfig({ host, port, failOpen }: EndpointPicker): AnyMessage {
  return any('envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute', {
    overrides: {
      failureModeAllow: { value: failOpen },
      grpcService: { envoyGrpc: { clusterName: outboundClusterName(host, '', port) } },
      processingMode: {
        requestHeaderMode: ProcessingMode_HeaderSendMode.SEND,
        responseHeaderMode: ProcessingMode_HeaderSendMode.SEND,
        requestBodyMode: ProcessingMode_BodySendMode.FULL_DUPLEX_STREAMED,
        responseBodyMode: ProcessingMode_BodySendMode.FULL_DUPLEX_STREAMED,
        requestTrailerMode: ProcessingMode_HeaderSendMode.SEND,
        responseTrailerMode: ProcessingMode_HeaderSendMode.SEND,
      },
    },
  });
}

const roundRobin: LoadBalancingPolicy = {
  policies: [
    {
      typedExtensionConfig: {
        name: 'envoy.load_balancing_policies.round_robin',
        typedConfig: any('envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin', {}),
      },
    },
  ],
};

/** The endpoint that the picker chose, else one after the other. */
export const pickedHosts: LoadBalancingPolicy = {
  policies: [
    {
      typedExtensionConfig: {
        name: 'envoy.load_balancing_policies.override_host',
        typedConfig: any('envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost', {
          overrideHostSources: [{ metadata: { key: METADATA, path: [{ key: CHOSEN }] } }],
          selectedHostKey: { key: METADATA, path: [{ key: SERVED }] },
          fallbackPolicy: roundRobin,
        }),
      },
    },
  ],
};
