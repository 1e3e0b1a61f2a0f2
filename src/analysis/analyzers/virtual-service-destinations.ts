// The destinations of a VirtualService and where they stand, for the analyzers that check them.
// Source: Istio pkg/config/analysis/analyzers/virtualservice/util.go.

import type { Destination, VirtualService } from '../../core/schema/istio-types.gen.ts';

export interface PlacedDestination {
  readonly destination: Destination;
  readonly path: string;
  readonly mirror: boolean;
}

/** Routes of tcp, tls and http, then mirrors. */
export function destinationsOf({ http = [], tcp = [], tls = [] }: VirtualService): readonly PlacedDestination[] {
  const found: PlacedDestination[] = [];
  const add = (destination: Destination | undefined, path: string, mirror: boolean): void => {
    found.push({ destination: destination ?? {}, path: `${path}.host`, mirror });
  };
  for (const [protocol, rules] of [
    ['tcp', tcp],
    ['tls', tls],
    ['http', http],
  ] as const) {
    rules.forEach(({ route = [] }, i) => {
      route.forEach(({ destination }, j) => {
        add(destination, `spec.${protocol}[${i}].route[${j}].destination`, false);
      });
    });
  }
  http.forEach(({ mirror, mirrors = [] }, i) => {
    if (mirror !== undefined) add(mirror, `spec.http[${i}].mirror`, true);
    mirrors.forEach(({ destination }, j) => {
      add(destination, `spec.http[${i}].mirrors[${j}].destination`, true);
    });
  });
  return found;
}
