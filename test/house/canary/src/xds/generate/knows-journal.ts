// Deliberately wrong: a generator must not look into the journal.
import { wrong } from '../../journal/store.ts';

export const generated = wrong;
