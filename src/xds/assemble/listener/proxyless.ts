// The listeners of a proxyless gRPC program, for the names that it asks for together: what one name means depends on
// the others (core/select/listener/proxyless-names.ts).

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { proxylessClientListeners, proxylessServerListeners } from '../../../core/select/listener/proxyless.ts';
import { proxylessClientListener, proxylessServerListener } from '../../generate/listener/proxyless.ts';
import type { Listener } from '../../proto/types.gen.ts';

/** Of equal names the first counts. */
export function proxylessListeners(reader: ProxyReader, names: readonly string[]): readonly Resource<Listener>[] {
  const byName = new Map<string, Resource<Listener>>();
  const add = (listener: Resource<Listener>): void => {
    if (!byName.has(listener.name)) byName.set(listener.name, listener);
  };
  for (const inputs of proxylessClientListeners(reader, names)) add(reader.make(proxylessClientListener, inputs));
  for (const inputs of proxylessServerListeners(reader, names)) add(reader.make(proxylessServerListener, inputs));
  return [...byName.values()];
}

/** Argument: one name, asked for alone. */
export const proxylessListenerNamed: Query<string, Resource<Listener> | undefined> = {
  name: 'listener/proxylessListenerNamed',
  run: (reader, name) => proxylessListeners(reader, [name]).find(made => made.name === name),
};
