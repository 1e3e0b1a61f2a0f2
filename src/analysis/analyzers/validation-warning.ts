// Objects that validation accepts with a warning; istioctl finds them as a part of schema validation. Rules of a
// VirtualService that no request reaches have codes of their own (virtual-service-unreachable.ts).
//
// Source: Istio pkg/config/analysis/analyzers/schema/validation.go (morePreciseMessage).

import type { Analyzer } from '../analyzer.ts';
import { schemaWarning } from '../ist-0001-0145.ts';
import { istioKinds } from '../objects.ts';
import { validationWarnings } from '../validation-warnings.ts';

export const validationWarning: Analyzer = {
  name: 'schema.ValidationAnalyzer.Warnings',
  type: 'schemaValidation.CollectionValidationAnalyzer',
  description: 'Reports what validation warns of without refusing it',
  needs: [],
  analyze: (objects, report) => {
    for (const item of istioKinds.flatMap(kind => objects.all(kind))) {
      for (const text of validationWarnings(item)) report(item, schemaWarning(text));
    }
  },
};
