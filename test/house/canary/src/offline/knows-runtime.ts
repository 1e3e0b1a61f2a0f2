// Deliberately wrong: what works without a server must not know one.
export { index } from '../runtime/imports-entry.ts';
