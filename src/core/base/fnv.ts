// A hash of text that is the same everywhere: 32-bit FNV-1a. Spreads names over places; no defence against an author
// who wants them to meet.

/** Of a text of ASCII characters, as namespaces and hosts are. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}
