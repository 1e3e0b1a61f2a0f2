export { index } from '../index.ts';
