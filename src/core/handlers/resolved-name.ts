// resolvedNameHandler: The DNS answer for a name changed. Only gateways of networks are known by names that are
// resolved here.
// Rules: Istio pilot/pkg/model/network.go (reloadGateways).

import type { PushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';
import { compareStates, gatewayRequest, orNothing } from './comparison.ts';

export function resolvedNameHandler(before: State, after: State, change: Change): PushRequest | undefined {
  return orNothing(gatewayRequest(compareStates(change.seq, before, after)));
}
