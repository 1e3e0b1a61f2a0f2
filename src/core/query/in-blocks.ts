// A selection for a list that may be very long.

import { blocksOf, joined } from '../base/groups.ts';
import type { ProxyReader, Selection } from './reader.ts';

/** A list of up to `alone` items is gone through at once, a longer one in blocks of `together`. */
export interface BlockSizes {
  readonly alone: number;
  readonly together: number;
}

/** For items of which each is looked at. */
export const LIGHT_BLOCKS: BlockSizes = { alone: 512, together: 128 };
/** For items of which something is made. */
export const HEAVY_BLOCKS: BlockSizes = { alone: 256, together: 64 };

/**
 * What the selection gives for the items, in their order. What it gave for a block stays known when the work is
 * interrupted, and when the items of another block change.
 */
export function selectInBlocks<T, I extends object, R>(
  reader: ProxyReader,
  selection: Selection<I, readonly R[]>,
  items: readonly T[],
  { alone, together }: BlockSizes,
  itemOf: (block: readonly T[]) => I,
): readonly R[] {
  if (items.length <= alone) return selection.run(reader, itemOf(items));
  return joined(blocksOf(items, together).map(block => reader.select(selection, itemOf(block))));
}
