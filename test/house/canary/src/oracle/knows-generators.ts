// Deliberately wrong: the oracle must not see what it judges.
import { generated } from '../xds/generate/knows-journal.ts';

export const judged = generated;
