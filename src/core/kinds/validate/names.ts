// Kubernetes' syntaxes of names. Source: k8s.io/apimachinery pkg/util/validation; RFC 1123, RFC 1035.

export const NAME_LENGTH_MAX = 253;
export const NAMESPACE_LENGTH_MAX = 63;
const LABEL_LENGTH_MAX = 63;
const DNS1123_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const PORT_NAME = /^[a-z0-9]([a-z0-9]|-(?=[a-z0-9]))*$/;
const PORT_NAME_LENGTH_MAX = 15;

/** Lower case letters, digits and dashes, at most 63. */
export function isDns1123Label(text: string): boolean {
  return text.length <= LABEL_LENGTH_MAX && DNS1123_LABEL.test(text);
}

/** As isDns1123Label, beginning with a letter. */
export function isDns1035Label(text: string): boolean {
  return text.length <= LABEL_LENGTH_MAX && DNS1035_LABEL.test(text);
}

/** Labels joined by dots, at most 253 in all. Single labels may be longer than 63 here, as in Kubernetes. */
export function isDns1123Subdomain(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && text.split('.').every(label => DNS1123_LABEL.test(label));
}

/** The name of a container's port: at most 15, with a letter somewhere (RFC 6335). */
export function isPortName(text: string): boolean {
  return text.length <= PORT_NAME_LENGTH_MAX && PORT_NAME.test(text) && /[a-z]/.test(text);
}
