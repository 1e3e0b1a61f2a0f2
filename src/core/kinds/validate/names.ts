// Kubernetes' syntaxes of names. Source: k8s.io/apimachinery pkg/util/validation; RFC 1123.

export const NAME_LENGTH_MAX = 253;
export const NAMESPACE_LENGTH_MAX = 63;
const LABEL_LENGTH_MAX = 63;
const DNS1123_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const PORT_NAME = /^[a-z0-9]([a-z0-9]|-(?=[a-z0-9]))*$/;
const PORT_NAME_LENGTH_MAX = 15;

/** Lower case letters, digits and dashes, at most 63. */
export function isDns1123Label(text: string): boolean {
  return text.length <= LABEL_LENGTH_MAX && DNS1123_LABEL.test(text);
}

/**
 * Labels joined by dots, at most 253 in all. Single labels may be longer than 63 here, as in Kubernetes. In one pass:
 * every object has a name.
 */
export function isDns1123Subdomain(text: string): boolean {
  if (text.length > NAME_LENGTH_MAX) return false;
  let last = DOT;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const edge = last === DOT || last === DASH;
    if (code === DOT ? edge : code === DASH ? last === DOT : !isLowerOrDigit(code)) return false;
    last = code;
  }
  return last !== DOT && last !== DASH;
}

const DASH = 0x2d;
const DOT = 0x2e;

function isLowerOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

/** The name of a container's port: at most 15, with a letter somewhere (RFC 6335). */
export function isPortName(text: string): boolean {
  return text.length <= PORT_NAME_LENGTH_MAX && PORT_NAME.test(text) && /[a-z]/.test(text);
}
