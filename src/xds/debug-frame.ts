// A debug answer as a `resources` field of a response: made on the spot, so not one of encode.ts's remembered frames.

import type { DebugResource } from './host.ts';
import { framed, framedString } from './wire/frame.ts';

/** `resources` is field 2 of both responses; envoy.service.discovery.v3.Resource: resource 2, name 3. */
export function debugFrame(protocol: 'sotw' | 'delta', { name, body }: DebugResource): Buffer {
  if (protocol === 'sotw') return framed(2, body);
  return framed(2, Buffer.concat([framed(2, body), framedString(3, name)]));
}
