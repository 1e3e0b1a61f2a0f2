// Listeners with the patches of the proxy, and those that patches add: the identical listener if none is for it.

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import type { PatchContext } from '../../../core/select/patch/envoy-patch.ts';
import { addedListeners, listenerPatches } from '../../../core/select/patch/proxy-patches.ts';
import { addedListener, patchedListener } from '../../generate/patch/listener.ts';
import type { Listener } from '../../proto/types.gen.ts';
import { kept } from './kept.ts';

type Listeners = readonly Resource<Listener>[];

/** Without those that are removed, or that have no name. */
export function patchedListeners(reader: ProxyReader, listeners: Listeners, context: PatchContext): Listeners {
  const patches = reader.get(listenerPatches, context);
  if (patches === undefined) return listeners;
  return listeners.flatMap(listener => {
    const result = kept(reader, listener, reader.make(patchedListener, { listener, patches }));
    return result === undefined || result.name === '' ? [] : [result];
  });
}

export function listenersAddedFor(reader: ProxyReader, context: PatchContext): Listeners {
  return reader
    .get(addedListeners, context)
    .map(patch => reader.make(addedListener, { patch }))
    .filter(({ name }) => name !== '');
}
