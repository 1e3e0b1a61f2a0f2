// Objects whose status says that a controller could not do what they ask for.
// Source: Istio pkg/config/analysis/analyzers/conditions/conditions.go.

import type { JsonObject } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { negativeConditionStatus } from '../ist-0146-0176.ts';
import { type AnalysisKind, type Item, objectsOf, textOf } from '../objects.ts';

const ROUTE = ['Accepted', 'Programmed', 'ResolvedRefs'] as const;
/** Condition types whose False is worth a message. */
const conditionTypes = {
  Service: ['istio.io/WaypointBound'],
  ServiceEntry: ['istio.io/WaypointBound'],
  WorkloadEntry: ['istio.io/WaypointBound'],
  AuthorizationPolicy: ['ZtunnelAccepted', 'WaypointAccepted'],
  KubernetesGateway: ROUTE,
  HTTPRoute: ROUTE,
  GRPCRoute: ROUTE,
} as const satisfies { readonly [K in AnalysisKind]?: readonly string[] };

export const conditions: Analyzer = {
  name: 'conditions.ConditionAnalyzer',
  description: 'Checks for negative status conditions on resources',
  needs: [],
  analyze: (objects, report) => {
    for (const kind of Object.keys(conditionTypes) as readonly (keyof typeof conditionTypes)[]) {
      const types: readonly string[] = conditionTypes[kind];
      for (const item of objects.all(kind)) {
        for (const { type, status, reason, message } of conditionsOf(item)) {
          const negative = status === 'False' && types.includes(textOf(type));
          const partly = kind === 'AuthorizationPolicy' && type === 'WaypointAccepted' && reason === 'PartiallyInvalid';
          if (!negative && !partly) continue;
          report(item, negativeConditionStatus(textOf(type), textOf(reason), textOf(message)), 'status.conditions');
        }
      }
    }
  },
};

function conditionsOf({ kind, status }: Item): readonly JsonObject[] {
  const isRoute = kind === 'HTTPRoute' || kind === 'GRPCRoute';
  return isRoute
    ? objectsOf(status.parents).flatMap(parent => objectsOf(parent.conditions))
    : objectsOf(status.conditions);
}
