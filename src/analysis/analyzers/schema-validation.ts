// Objects that are refused: by their schema, by the rules of their kind, or by the state that judged them.
//
// Source: Istio pkg/config/analysis/analyzers/schema/validation.go. The rules are those by which this control plane
// accepts objects (src/core/kinds), so analysis and serving cannot disagree; the reasons are in our words.

import { isLeft } from 'fp-ts/lib/Either.js';
import { showProblem } from '../../core/base/problem.ts';
import { definitionOf } from '../../core/kinds/registry.ts';
import type { Analyzer } from '../analyzer.ts';
import { schemaValidationError } from '../ist-0001-0145.ts';
import { istioKinds } from '../objects.ts';

export const schemaValidation: Analyzer = {
  name: 'schema.ValidationAnalyzer',
  type: 'schemaValidation.CollectionValidationAnalyzer',
  description: "Runs schema validation as an analyzer on objects of Istio's kinds",
  needs: [],
  analyze: (objects, report) => {
    for (const item of istioKinds.flatMap(kind => objects.all(kind))) {
      const definition = definitionOf(item.raw.apiVersion, item.raw.kind);
      const decoded = definition?.decode(item.raw);
      if (decoded === undefined || !isLeft(decoded)) continue;
      for (const problem of decoded.left) report(item, schemaValidationError(showProblem(problem)), problem.path);
    }
  },
};
