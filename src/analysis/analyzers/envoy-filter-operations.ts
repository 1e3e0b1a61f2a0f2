// Patches of EnvoyFilters whose operation depends on the order of filters without a priority, or does not fit what it
// is applied to.
//
// A patch that has a proxyVersion before it, for a filter of the same name, gets the message that says so.
// Source: Istio pkg/config/analysis/analyzers/envoyfilter/envoyfilter.go.

import type { EnvoyFilter_EnvoyConfigObjectPatch } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import {
  envoyFilterUsesAddOperationIncorrectly,
  envoyFilterUsesRelativeOperation,
  envoyFilterUsesRelativeOperationWithProxyVersion,
  envoyFilterUsesRemoveOperationIncorrectly,
  envoyFilterUsesReplaceOperationIncorrectly,
} from '../ist-0146-0176.ts';
import type { Wording } from '../message.ts';

type Patch = EnvoyFilter_EnvoyConfigObjectPatch;

const ROUTES: readonly (string | undefined)[] = ['ROUTE_CONFIGURATION', 'HTTP_ROUTE'];
const REPLACEABLE: readonly (string | undefined)[] = ['NETWORK_FILTER', 'HTTP_FILTER', 'VIRTUAL_HOST'];

export const envoyFilterOperations: Analyzer = {
  name: 'envoyfilter.EnvoyPatchAnalyzer',
  description: 'Checks an envoyFilters ',
  needs: ['EnvoyFilter'],
  analyze: (objects, report) => {
    const versioned = new Set<string>();
    for (const item of objects.all('EnvoyFilter')) {
      const { configPatches = [], priority = 0 } = item.spec;
      for (const [i, patch] of configPatches.entries()) {
        if (patch.patch === undefined) break;
        const name = filterName(patch);
        const wording = misuseOf(patch, priority, versioned.has(name));
        if (wording !== undefined) report(item, wording, `spec.configPatches[${i}].patch`);
        if ((patch.match?.proxy?.proxyVersion ?? '') !== '') versioned.add(name);
      }
    }
  },
};

function filterName({ patch, match }: Patch): string {
  const { value } = patch ?? {};
  if (value === undefined) return '';
  return typeof value.name === 'string' ? value.name : (match?.listener?.filterChain?.filter?.name ?? '');
}

function misuseOf({ patch, applyTo }: Patch, priority: number, versioned: boolean): Wording | undefined {
  const relative = (): Wording | undefined => {
    if (priority !== 0) return undefined;
    return versioned ? envoyFilterUsesRelativeOperationWithProxyVersion() : envoyFilterUsesRelativeOperation();
  };
  switch (patch?.operation) {
    case 'ADD':
      return ROUTES.includes(applyTo) ? envoyFilterUsesAddOperationIncorrectly() : undefined;
    case 'REMOVE':
      return ROUTES.includes(applyTo) ? envoyFilterUsesRemoveOperationIncorrectly() : relative();
    case 'REPLACE':
      return REPLACEABLE.includes(applyTo) ? relative() : envoyFilterUsesReplaceOperationIncorrectly();
    case 'INSERT_BEFORE':
    case 'INSERT_AFTER':
      return relative();
    default:
      return undefined;
  }
}
