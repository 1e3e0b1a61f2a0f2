export { index } from '../runtime/imports-entry.ts';
