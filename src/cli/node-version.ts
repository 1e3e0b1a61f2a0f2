// Whether this Node can run Periplus. Imports nothing, so that it comes to a word in a Node that could not load the
// rest.

/** `engines` of package.json says the same. */
export const NODE_MIN = '20.19';

/** `version` as process.versions.node has it. Undefined: it is new enough. */
export function whyTooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = NODE_MIN.split('.').map(Number);
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined;
  return `Node ${NODE_MIN} or newer is needed; this is ${version}`;
}
