// Deliberately wrong: what servers share knows none of them.
export { index } from '../admin/knows-runtime.ts';
