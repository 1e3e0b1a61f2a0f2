// Every function of an injection or gateway template: Go's own, sprig's, and Istio's, which replace sprig's.

import { type Functions, SHORT_CIRCUIT } from '../evaluate.ts';
import { builtins } from './builtins.ts';
import { collections } from './collections.ts';
import { istio } from './istio.ts';
import { numbers } from './numbers.ts';
import { strings } from './strings.ts';

export const templateFunctions: Functions = new Map(
  [strings, numbers, collections, builtins, istio].flatMap(functions => Object.entries(functions)),
);

/** True for sprig's `must…` forms too: all functions here report their errors. */
export function isTemplateFunction(name: string): boolean {
  return templateFunctions.has(name) || SHORT_CIRCUIT.includes(name);
}
