// Which DestinationRule applies to a service for a proxy, rules of one host merged.
// Rules: spec-clusters-endpoints §4; Istio pilot/pkg/model/push_context.go, destination_rule.go.

import type { Query } from '../reader.ts';
import type { ObjOf, SpecOf } from './specs.ts';

export interface MergedRule {
  /** Host resolved, subsets united, the first traffic policy. */
  readonly spec: SpecOf<'DestinationRule'>;
  /** Name and namespace of the first rule. */
  readonly name: string;
  readonly namespace: string;
  /** The rules that it was made of, in order. */
  readonly from: readonly ObjOf<'DestinationRule'>[];
}

/** Argument `hostname|serviceNamespace|outbound` or `…|inbound`: the rule for the current proxy, by its sidecar scope. */
export const destinationRule: Query<string, MergedRule | undefined> = {
  name: 'select/destinationRule',
  run: () => undefined,
};
