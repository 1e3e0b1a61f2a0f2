// Objects of our sources that report on one object of Istio's. Each has the namespace of that object, and a name made
// of its kind and its name.

export const ABOUT_API = 'periplus.internal/v1';

/** The name of a report on the object. */
export function nameAbout(kind: string, name: string): string {
  return `${kind.toLowerCase()}.${name}`;
}
