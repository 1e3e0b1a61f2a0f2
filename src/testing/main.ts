// The entry `periplus/testing`: arbitrary meshes and histories for fast-check, and the perturbations that no controller
// may mind. For tests of Periplus and for those of your own mesh. Needs fast-check, an optional peer dependency.

export { anyFact, anyHistory, CONNECTIONS, NODES, numbered } from './facts.ts';
export { meshLife, type Story } from './life.ts';
export { anyObject, soundObject } from './objects.ts';
export {
  backInTime,
  contentsBySource,
  crashed,
  missed,
  plain,
  type RunStep,
  reordered,
  run,
  type SourceContents,
  settle,
} from './perturbations.ts';
export { resourcesHeld } from './resources-held.ts';
export type { Shape } from './worlds/pools.ts';
