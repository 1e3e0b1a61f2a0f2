// Deliberately wrong: replicas do not know who serves from their journal.
export { index } from '../runtime/imports-entry.ts';
