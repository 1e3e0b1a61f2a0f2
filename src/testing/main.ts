// The entry `periplus/testing`: arbitrary meshes and histories for fast-check, and the perturbations that no controller may mind. For tests
// of Periplus and for those of your own mesh. Needs fast-check, an optional peer dependency.

export { anyFact, anyHistory, CONNECTIONS, NODES, numbered } from './facts.ts';
export { meshLife } from './life.ts';
export { anyObject, soundObject } from './objects.ts';
export {
  backInTime,
  crashed,
  missed,
  plain,
  reordered,
  run,
  type Sources,
  type Step,
  saidBy,
  settle,
} from './perturbations.ts';
