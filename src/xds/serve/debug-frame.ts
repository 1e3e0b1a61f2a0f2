// Debug requests over xDS, as istioctl sends them: answered outside of the session, for one client, so the frames are
// not the memoised ones of engine/encode.ts. Nothing of them is recorded, not even the stream, if it asks for nothing
// else.

import { DEBUG_NONCE } from '../session/types.ts';
import { framed, framedString } from '../wire/frame.ts';
import { deltaDiscoveryResponse, discoveryResponse } from './discovery.ts';
import type { DebugQuestion, DebugReply, DebugResource, XdsHost } from './host.ts';
import type { EndCode } from './transport.ts';

type Protocol = 'sotw' | 'delta';
interface Stream {
  readonly protocol: Protocol;
  end(code: EndCode, message: string): void;
}

/** The response to be sent; undefined: there is none, and a refusal has ended the stream. */
export async function debugAnswer(host: XdsHost, stream: Stream, question: DebugQuestion): Promise<Buffer | undefined> {
  const reply = await host.debug?.(question);
  if (reply === undefined) return undefined;
  if (!('refused' in reply)) return debugResponse(stream.protocol, question.typeUrl, reply);
  stream.end(reply.refused, reply.message);
  return undefined;
}

function debugResponse(
  protocol: Protocol,
  typeUrl: string,
  { resources, controlPlane = '' }: Exclude<DebugReply, { readonly refused: EndCode }>,
): Buffer {
  const frames = resources.map(resource => debugFrame(protocol, resource));
  const common = { typeUrl, nonce: `${DEBUG_NONCE}${typeUrl}`, frames, controlPlane };
  return protocol === 'sotw'
    ? discoveryResponse({ versionInfo: '', ...common })
    : deltaDiscoveryResponse({ systemVersionInfo: '', removed: [], ...common });
}

/** `resources` is field 2 of both responses; envoy.service.discovery.v3.Resource: resource 2, name 3. */
function debugFrame(protocol: Protocol, { name, body }: DebugResource): Buffer {
  if (protocol === 'sotw') return framed(2, body);
  return framed(2, Buffer.concat([framed(2, body), framedString(3, name)]));
}
