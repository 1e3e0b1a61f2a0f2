// PEM text (RFC 7468, read leniently): blocks in order, and the text before each of them, which certificate bundles use
// for comments.
//
// Invariant: a block that is returned has valid base64; text outside blocks is never an error. Nothing here looks
// inside a block.

import { trimmed } from '../../core/base/trim.ts';

export interface PemBlock {
  /** e.g. `CERTIFICATE`. */
  readonly label: string;
  readonly der: Buffer;
  /** The block with the text before it, outer newlines cut. */
  readonly text: string;
}

/** Bytes of a bundle that is read; larger input is refused by callers. */
export const PEM_BYTES_MAX = 1024 * 1024;

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----/g;

export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let from = 0;
  for (const match of text.matchAll(BLOCK)) {
    const [whole, label = '', body = ''] = match;
    const end = match.index + whole.length;
    const base64 = bodyOf(body);
    if (base64 !== undefined) {
      blocks.push({ label, der: Buffer.from(base64, 'base64'), text: trimmed(text.slice(from, end), '\r\n') });
    }
    from = end;
  }
  return blocks;
}

/** The certificates of a bundle in order; other blocks are left out. */
export function certificateBlocks(text: string): readonly PemBlock[] {
  return pemBlocks(text).filter(({ label }) => label === 'CERTIFICATE');
}

/** With one newline at the end. */
export function pemOf(label: string, der: Uint8Array): string {
  const base64 = Buffer.from(der).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** RFC 1421 headers (`Proc-Type: …`) stand before an empty line; a key under them is encrypted and of no use. */
function bodyOf(body: string): string | undefined {
  const base64 = body.replace(/\s+/g, '');
  return base64 !== '' && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? base64 : undefined;
}
