// Which services a namespace may see. ExternalName aliases are among them (resolution `Alias`): routes look them up,
// but they have no resources.
// Source: Istio pilot/pkg/model/push_context.go (initServiceRegistry, servicesExportedToNamespace).

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
    const named = services.filter(service => !isPublic(service) && isVisible(service, namespace));
    const open = services.filter(isPublic);
    return named.length === 0 ? open : [...named, ...open];
  },
};

export function isVisible(service: Service, namespace: string): boolean {
  if (isPublic(service)) return true;
  return !service.exportTo.includes('~') && service.exportTo.includes(namespace);
}

function isPublic(service: Service): boolean {
  return service.exportTo.includes('*');
}
