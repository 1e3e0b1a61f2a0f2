// Deliberately wrong: the core must not read files.
import { readFileSync } from 'node:fs';

export const wrong = readFileSync;
