// Which services a namespace may see. ExternalName aliases are among them (resolution `Alias`): routes look them up,
// but they have no resources.
// Source: Istio pilot/pkg/model/push_context.go (initServiceRegistry, servicesExportedToNamespace, IsServiceVisible).

import type { Service } from '../../model/service.ts';
import type { Query } from '../../query/reader.ts';
import { allServices } from '../../registry/services.ts';

/**
 * Argument: a namespace. First the services exported to it by name (its own private ones too), then the public ones;
 * each by age.
 */
export const visibleServices: Query<string, readonly Service[]> = {
  name: 'select/visibleServices',
  run: (reader, namespace) => {
    const services = reader.get(allServices, '');
    const named = services.filter(({ exportTo }) => exportTo.includes(namespace) && !exportTo.some(isWide));
    return [...named, ...services.filter(isPublic)];
  },
};

/** Names of all namespaces and of none take precedence over a name. */
const isWide = (target: string): boolean => target === '*' || target === '~';

/** To rules that name the service as a destination: a namespace that is named counts, even beside `~`. */
export function isVisible(service: Service, namespace: string): boolean {
  return isPublic(service) || service.exportTo.includes(namespace);
}

function isPublic(service: Service): boolean {
  return service.exportTo.includes('*');
}
