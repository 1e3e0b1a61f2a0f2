// Traffic distribution of a service: the field, else its annotation, else that of its namespace.
// Source: Istio pilot/pkg/model/service.go (GetTrafficDistribution).

import type { Obj } from '../model/object.ts';
import type { TrafficDistribution } from '../model/service.ts';
import type { Reader } from '../query/reader.ts';

const ANNOTATION = 'networking.istio.io/traffic-distribution';

const byField: Readonly<Record<string, TrafficDistribution>> = {
  PreferClose: 'PreferSameZone',
  PreferSameZone: 'PreferSameZone',
  PreferSameNode: 'PreferSameNode',
};

/** Annotations are read in any case. */
const byText: Readonly<Record<string, TrafficDistribution>> = {
  preferclose: 'PreferSameZone',
  prefersamezone: 'PreferSameZone',
  prefersamenode: 'PreferSameNode',
};

/** An annotation with an unknown value ends the search. */
export function trafficDistributionOf(reader: Reader, obj: Obj, field: string | undefined): TrafficDistribution {
  const fromField = field === undefined ? undefined : byField[field];
  if (fromField !== undefined) return fromField;
  const own = obj.annotations[ANNOTATION] ?? '';
  if (own !== '') return byText[own.toLowerCase()] ?? 'Any';
  const cluster = obj.kind === 'Service' ? obj.cluster : reader.setting('clusterId');
  const inherited = reader.object('Namespace', `${cluster}/${obj.namespace}`)?.annotations[ANNOTATION];
  return inherited === undefined ? 'Any' : (byText[inherited.toLowerCase()] ?? 'Any');
}
