// Deliberately wrong: an adapter must not know the journal.
import { wrong } from '../../journal/store.ts';

export const alsoWrong = wrong;
