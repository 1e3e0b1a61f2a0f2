// Services that an EnvoyFilter needs, by its annotation: `namespace/host` or `host`, separated by commas, not trimmed.
// They count for every proxy that the object is attached to, also if all of its patches are for others.
// Source: Istio pilot/pkg/model/push_context.go (extraServicesForProxy).

import type { Query } from '../../query/reader.ts';
import { attachedFilters } from './proxy-patches.ts';

const REFERENCED_SERVICES = 'envoyfilter.istio.io/referenced-services';

export const referencedServices: Query<'', readonly string[]> = {
  name: 'select/referencedServices',
  run: reader =>
    attachedFilters(reader).flatMap(({ annotations }) => (annotations[REFERENCED_SERVICES] ?? '').split(',')),
};
