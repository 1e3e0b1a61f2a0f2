// Which services a namespace may see. Rules: spec-routes-visibility §14.2.

import type { Service } from '../model/service.ts';
import type { Query } from '../reader.ts';
import { allServices } from '../registry/services.ts';

/** Argument: a namespace. First the services exported to it by name (its own private ones too), then the public ones; each by age. */
export const visibleServices: Query<string, readonly Service[]> = {
  name: 'select/visibleServices',
  run: (reader, namespace) => {
    const services = reader.get(allServices, '');
    const named = services.filter(s => !s.exportTo.includes('*') && s.exportTo.includes(namespace));
    const open = services.filter(s => s.exportTo.includes('*'));
    return named.length === 0 ? open : [...named, ...open];
  },
};
