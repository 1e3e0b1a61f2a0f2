// The routes of one VirtualService in one place. What is large in it is made by runs of their own, so that it stays
// made when the work is interrupted: blocks of many matches, and the order of the keys of large maps.

import { type Generator, interning } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import type { VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';
import { largeMapKeys } from '../../generate/common/sorted-keys.ts';
import { largeMapsOf } from '../../generate/route/large-maps.ts';
import {
  endsWithCatchAll,
  type GeneratedRoutes,
  joinedMatches,
  routesOfMatches,
  virtualServiceRoutes,
} from '../../generate/route/virtual-service-routes.ts';

const MATCHES_ALONE_MAX = 256;
const MATCHES_TOGETHER = 128;

/** Compares `inputs` by content. */
export function routesOfVirtualService(reader: ProxyReader, inputs: VirtualServiceRoutesInputs): GeneratedRoutes {
  prepare(reader, inputs);
  if (inputs.selected.length <= MATCHES_ALONE_MAX) return reader.make(virtualServiceRoutes, inputs);
  return inBlocks(reader, reader.make(oneOfEqualInputs, inputs));
}

/** Compares `inputs` by identity: equal ones must be one object, as those of sidecars are. */
export function routesOfInterned(reader: ProxyReader, inputs: VirtualServiceRoutesInputs): GeneratedRoutes {
  prepare(reader, inputs);
  return inputs.selected.length <= MATCHES_ALONE_MAX ? reader.make(routesOf, { inputs }) : inBlocks(reader, inputs);
}

const routesOf: Generator<{ readonly inputs: VirtualServiceRoutesInputs }, GeneratedRoutes> = {
  name: 'route/routesOf',
  run: ({ inputs }) => virtualServiceRoutes.run(inputs),
};

const oneOfEqualInputs = interning<VirtualServiceRoutesInputs>('route/oneOfEqualInputs');

function prepare(reader: ProxyReader, { virtualService }: VirtualServiceRoutesInputs): void {
  for (const map of largeMapsOf(virtualService.spec.http)) reader.make(largeMapKeys, { map });
}

function inBlocks(reader: ProxyReader, inputs: VirtualServiceRoutesInputs): GeneratedRoutes {
  const count = inputs.selected.length;
  const blocks: GeneratedRoutes[] = [];
  for (let from = 0; from < count; from += MATCHES_TOGETHER) {
    const block = reader.make(routesOfMatches, { inputs, from, to: Math.min(count, from + MATCHES_TOGETHER) });
    blocks.push(block);
    if (endsWithCatchAll(block)) break;
  }
  return reader.make(joinedMatches, { blocks });
}
