// What a redacted export shows instead of a private value: something of the same shape, so that the code that reads it
// takes the same way as in the journal that is debugged, and the same for the same value, so that "unchanged" stays
// unchanged.
//
// Everything in a placeholder comes from `digest`; of the plaintext only the shape is used: text or base64, PEM labels,
// PEM lengths. A PEM block begins with a mark, so that status calls neither a key nor a certificate malformed.

import { createHash } from 'node:crypto';
import { REDACTED_MARK } from '../core/base/certificate.ts';
import type { Json } from '../core/base/json.ts';

/** The content of a PEM block is as long as it was, up to this. */
export const PLACEHOLDER_PEM_BYTES_MAX = 8_192;
/** A line with more behind it. */
const PEM_LINE = /.{64}(?=.)/g;
const PEM_BEGIN = /-----BEGIN ([A-Z0-9 ]{1,64})-----/g;
/** Beginnings without an end, after which the rest of a text is not looked at: each costs a look at all of it. */
const UNENDED_MAX = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** `plain` undefined: the plaintext is not known (no key). */
export function placeholderOf(plain: Json | undefined, digest: Buffer): string {
  if (typeof plain !== 'string') return textPlaceholder(digest);
  const pem = pemPlaceholder(plain, digest);
  if (pem !== undefined) return pem;
  if (plain === '' || !BASE64.test(plain)) return textPlaceholder(digest);
  const inner = Buffer.from(plain, 'base64').toString('utf8');
  return Buffer.from(pemPlaceholder(inner, digest) ?? textPlaceholder(digest), 'utf8').toString('base64');
}

function textPlaceholder(digest: Buffer): string {
  return `redacted-${digest.toString('hex').slice(0, 16)}`;
}

function pemPlaceholder(text: string, digest: Buffer): string | undefined {
  const blocks = pemBlocksOf(text);
  if (blocks.length === 0) return undefined;
  return blocks.map(({ label, chars }, index) => pemBlock(label, chars, digest, index)).join('');
}

function pemBlocksOf(text: string): readonly { readonly label: string; readonly chars: number }[] {
  const blocks: { readonly label: string; readonly chars: number }[] = [];
  let unended = 0;
  let from = 0;
  for (const { 0: begin, 1: label = '', index } of text.matchAll(PEM_BEGIN)) {
    if (index < from) continue;
    const end = `-----END ${label}-----`;
    const at = text.indexOf(end, index + begin.length);
    if (at < 0) {
      if (++unended > UNENDED_MAX) break;
      continue;
    }
    from = at + end.length;
    blocks.push({ label, chars: from - index });
  }
  return blocks;
}

function pemBlock(label: string, chars: number, digest: Buffer, index: number): string {
  const frame = `-----BEGIN ${label}-----\n-----END ${label}-----`.length;
  const bytes = Math.min(Math.max(Math.floor(((chars - frame) * 3) / 4), 3), PLACEHOLDER_PEM_BYTES_MAX);
  const lines = filler(digest, index, bytes).toString('base64').replace(PEM_LINE, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}

function filler(digest: Buffer, index: number, bytes: number): Buffer {
  const parts: Buffer[] = [Buffer.from(REDACTED_MARK)];
  for (let at = 0; at * 32 < bytes; at += 1) {
    parts.push(createHash('sha256').update(digest).update(`${index}/${at}`).digest());
  }
  return Buffer.concat(parts).subarray(0, bytes);
}
