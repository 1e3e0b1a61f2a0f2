// Deliberately wrong: the runtime gives the pages what they show.
export { index } from '../runtime/imports-entry.ts';
