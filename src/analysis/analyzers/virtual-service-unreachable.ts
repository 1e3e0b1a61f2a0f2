// Rules of a VirtualService that no request reaches, and matches that an earlier rule already makes; istioctl finds
// them as a part of schema validation (Istio pkg/config/analysis/analyzers/schema/validation.go).

import { findUnreachableRules } from '../../core/kinds/istio/validate/unreachable-rules.ts';
import type { Analyzer } from '../analyzer.ts';
import { virtualServiceIneffectiveMatch, virtualServiceUnreachableRule } from '../ist-0001-0145.ts';

export const virtualServiceUnreachable: Analyzer = {
  name: 'schema.ValidationAnalyzer.VirtualService',
  type: 'schemaValidation.CollectionValidationAnalyzer',
  description: 'Finds rules of virtual services that no request reaches',
  needs: ['VirtualService'],
  analyze: (objects, report) => {
    for (const item of objects.all('VirtualService')) {
      findUnreachableRules(item.spec, {
        unused: (rule, reason, path) => report(item, virtualServiceUnreachableRule(rule, reason), path),
        ineffective: (rule, match, earlier, path) =>
          report(item, virtualServiceIneffectiveMatch(rule, match, earlier), path),
      });
    }
  },
};
