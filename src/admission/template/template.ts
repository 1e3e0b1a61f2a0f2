// Entry of the engine: Go templates as Istio's injector and gateway controller run them, bounded in steps, memory and
// output. Pure: equal text and data, equal result. No library for Go templates in JavaScript runs sprig's functions
// with Go's nil and number semantics and limits, hence an engine of our own.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { Templates } from './ast.ts';
import { execute } from './evaluate.ts';
import { isTemplateFunction, templateFunctions } from './functions/all.ts';
import { TEMPLATE_LIMITS, TemplateFault, type TemplateLimits } from './limits.ts';
import { parseTemplates } from './parser.ts';
import type { Value } from './value.ts';

export type { Templates } from './ast.ts';

/** Left: why, with the line. */
export function parseTemplate(text: string): Either<string, Templates> {
  return caught(() => parseTemplates(text, isTemplateFunction));
}

/** The output for `data`, the dot. Left: why, with the line; total. */
export function runTemplate(
  templates: Templates,
  data: Value,
  limits: TemplateLimits = TEMPLATE_LIMITS,
): Either<string, string> {
  return caught(() => execute(templates, data, templateFunctions, limits));
}

function caught<T>(work: () => T): Either<string, T> {
  try {
    return right(work());
  } catch (fault) {
    if (fault instanceof TemplateFault) return left(fault.message);
    throw fault;
  }
}
