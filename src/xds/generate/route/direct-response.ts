// Fixed answers of a VirtualService rule. Source: Istio pilot/pkg/networking/core/route/route.go.

import type { HTTPDirectResponse } from '../../../core/schema/istio-types.gen.ts';
import type { DirectResponseAction } from '../../proto/types.gen.ts';

export function directResponseAction(response: HTTPDirectResponse): DirectResponseAction {
  const { body } = response;
  const status = response.status || undefined;
  if (body?.string !== undefined) return { status, body: { inlineString: body.string } };
  if (body?.bytes !== undefined) return { status, body: { inlineBytes: fromBase64(body.bytes) } };
  return { status };
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The decoder of the kind has checked the text; both alphabets are taken, padding is not needed. */
function fromBase64(text: string): Uint8Array {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const char of text.replaceAll('-', '+').replaceAll('_', '/')) {
    const value = ALPHABET.indexOf(char);
    if (value < 0) continue;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Uint8Array.from(bytes);
}
