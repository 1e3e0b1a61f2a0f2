// Requests of clients, from the bytes on the wire.

import { decodeDeltaDiscoveryRequest, decodeDiscoveryRequest } from '../serve/discovery.ts';
import type { Incoming } from '../serve/stream-input.ts';

/** Throws if the bytes are no DiscoveryRequest. */
export function sotwMessage(bytes: Buffer, namesMax?: number): Incoming {
  const data = decodeDiscoveryRequest(bytes, namesMax);
  return {
    node: data.node,
    request: {
      protocol: 'sotw',
      typeUrl: data.typeUrl,
      names: data.resourceNames,
      nonce: data.responseNonce,
      ...refusal(data.errorDetail),
    },
  };
}

/** Throws if the bytes are no DeltaDiscoveryRequest. */
export function deltaMessage(bytes: Buffer, namesMax?: number): Incoming {
  const data = decodeDeltaDiscoveryRequest(bytes, namesMax);
  return {
    node: data.node,
    request: {
      protocol: 'delta',
      typeUrl: data.typeUrl,
      subscribe: data.resourceNamesSubscribe,
      unsubscribe: data.resourceNamesUnsubscribe,
      initial: data.initialResourceVersions,
      nonce: data.responseNonce,
      ...refusal(data.errorDetail),
    },
  };
}

function refusal(detail: { readonly message: string } | undefined): { readonly error?: string } {
  return detail === undefined ? {} : { error: detail.message === '' ? 'the client gave no reason' : detail.message };
}
