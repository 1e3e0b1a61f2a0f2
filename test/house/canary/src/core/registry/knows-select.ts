// Deliberately wrong: the registry lies below the selectors.
import { view } from '../select/view.ts';

export const wrong = view;
