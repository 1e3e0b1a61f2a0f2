// The response to a debug request. It is made for one client, so its frames are not the memoised ones of
// engine/encode.ts.

import { framed, framedString } from '../wire/frame.ts';
import { deltaDiscoveryResponse, discoveryResponse } from './discovery.ts';
import type { DebugResource } from './host.ts';

export function debugResponse(
  protocol: 'sotw' | 'delta',
  typeUrl: string,
  nonce: string,
  answer: readonly DebugResource[],
): Buffer {
  const frames = answer.map(resource => debugFrame(protocol, resource));
  return protocol === 'sotw'
    ? discoveryResponse({ versionInfo: '', typeUrl, nonce, frames })
    : deltaDiscoveryResponse({ systemVersionInfo: '', typeUrl, nonce, frames, removed: [] });
}

/** `resources` is field 2 of both responses; envoy.service.discovery.v3.Resource: resource 2, name 3. */
function debugFrame(protocol: 'sotw' | 'delta', { name, body }: DebugResource): Buffer {
  if (protocol === 'sotw') return framed(2, body);
  return framed(2, Buffer.concat([framed(2, body), framedString(3, name)]));
}
