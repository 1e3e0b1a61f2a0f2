// networkGatewayHandler: changes that concern only the gateways of networks: the DNS answer for a name (only gateways
// of networks are resolved here), and a Gateway of a remote cluster.
// Rules: Istio pilot/pkg/model/network.go (reloadGateways).

import type { PushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';
import { compareStates, gatewayRequest, orNothing } from './comparison.ts';

export function networkGatewayHandler(before: State, after: State, change: Change): PushRequest | undefined {
  return orNothing(gatewayRequest(compareStates(change.seq, before, after)));
}
