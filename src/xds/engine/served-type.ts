// What the engine asks the tracker for: the queries of a row of types.ts, with those for the names of a subscription.
//
// A list of names is known by its id (list-ids.ts). One of many names is gone through in blocks, each a query of its
// own: what is made of a block stays made when the work is interrupted, and a change is looked for in its blocks alone.

import { joined } from '../../core/base/groups.ts';
import type { Resource } from '../../core/model/resource.ts';
import { interning } from '../../core/query/memo.ts';
import type { ProxyReader, Query, Selection } from '../../core/query/reader.ts';
import { type ResourceSource, sourceKey } from '../assemble/source.ts';
import type { ListIds } from './list-ids.ts';

export type Made = readonly Resource<object>[];

export interface ServedType {
  readonly url: string;
  readonly all: Query<string, Made> | undefined;
  readonly named: ResourceSource['named'];
  /** Argument: the id of a list of names (ListIds). The resources that exist, in the order of the list. */
  readonly byList: Query<string, Made> | undefined;
  /** For large lists: the parts that resources are made from (`query`, argument as above), and what is made of each. */
  readonly pieces: readonly ServedPieces[];
  /** If `byList` asks for each name and for nothing else. */
  readonly eachName: ResourceSource['named'];
}

export interface ServedPieces {
  readonly query: Query<string, readonly object[]>;
  /** Those of some names of the list. */
  readonly ofBlock: Query<NameBlock, readonly object[]>;
  readonly each: Selection<object, unknown>;
}

/** Names of a list, by their positions. */
interface NameBlock {
  readonly list: string;
  readonly from: number;
  readonly to: number;
}

/** More names are gone through in blocks. */
const NAMES_ALONE_MAX = 1_024;
const NAMES_TOGETHER = 256;

/** Empty: there are so few names that one run suffices. */
function nameBlocks(list: string, { length }: readonly string[]): readonly NameBlock[] {
  if (length <= NAMES_ALONE_MAX) return [];
  return Array.from({ length: Math.ceil(length / NAMES_TOGETHER) }, (_, i) => ({
    list,
    from: i * NAMES_TOGETHER,
    to: (i + 1) * NAMES_TOGETHER,
  }));
}

const blockKey = ({ list, from }: NameBlock): string => `${list} from ${from}`;

export function sourceOf(source: ResourceSource, lists: ListIds): ServedType {
  // The argument of `all` is always the empty string.
  const all = source.all as unknown as Query<string, Made> | undefined;
  const pieces = piecesOf(source, lists);
  const isMadeByName = all === undefined && pieces.length === 0 && source.listed === undefined;
  const eachName = isMadeByName ? source.named : undefined;
  return { url: source.url, all, named: source.named, byList: listQueryOf(source, pieces[0], lists), pieces, eachName };
}

function piecesOf({ url, pieces = [] }: ResourceSource, lists: ListIds): ServedType['pieces'] {
  return pieces.map(({ list: listOf, each }) => {
    const row = `${each.name}/${url}`;
    // Equal parts become one object, so that equal lists have identical elements for every proxy.
    const internedPieces = interning(`xds/interning/${row}`);
    const piecesOf = (reader: ProxyReader, names: readonly string[]): readonly object[] =>
      listOf(reader, names).map(piece => reader.make(internedPieces, piece));
    const ofBlock: ServedPieces['ofBlock'] = {
      name: `xds/pieceBlock/${row}`,
      key: blockKey,
      run: (reader, { list, from, to }) => piecesOf(reader, lists.get(list).slice(from, to)),
    };
    const run = (reader: ProxyReader, list: string): readonly object[] => {
      const names = lists.get(list);
      const blocks = nameBlocks(list, names);
      return blocks.length === 0 ? piecesOf(reader, names) : joined(blocks.map(block => reader.get(ofBlock, block)));
    };
    return { query: { name: `xds/pieces/${row}`, run }, ofBlock, each };
  });
}

function listQueryOf(
  { url, generator = '', all, named, listed }: ResourceSource,
  pieces: ServedPieces | undefined,
  lists: ListIds,
): Query<string, Made> | undefined {
  const name = `xds/byList/${sourceKey(url, generator)}`;
  if (listed !== undefined) return { name, run: (reader, list) => listed(reader, lists.get(list)) };
  if (named === undefined || all !== undefined) return undefined;
  if (pieces !== undefined) {
    const each = pieces.each as Selection<object, Resource<object>>;
    // One selection for all proxies with the same list. After a change of a few parts it re-runs only for those
    // (`lineage`).
    const together: Selection<{ readonly list: string; readonly of: readonly object[] }, Made> = {
      name: `xds/together/${url}`,
      lineage: ({ list }) => list,
      run: (reader, { of }) => reader.selectEach(each, of),
    };
    const { query, ofBlock } = pieces;
    return {
      name,
      run: (reader, list) => {
        const blocks = nameBlocks(list, lists.get(list));
        if (blocks.length === 0) return reader.select(together, { list, of: reader.get(query, list) });
        return joined(
          blocks.map(block => reader.select(together, { list: blockKey(block), of: reader.get(ofBlock, block) })),
        );
      },
    };
  }
  const madeOf = (reader: ProxyReader, names: readonly string[]): Made =>
    names.map(one => reader.get(named, one)).filter(made => made !== undefined);
  const ofBlock: Query<NameBlock, Made> = {
    name: `xds/nameBlock/${sourceKey(url, generator)}`,
    key: blockKey,
    run: (reader, { list, from, to }) => madeOf(reader, lists.get(list).slice(from, to)),
  };
  return {
    name,
    run: (reader, list) => {
      const names = lists.get(list);
      const blocks = nameBlocks(list, names);
      return blocks.length === 0 ? madeOf(reader, names) : joined(blocks.map(block => reader.get(ofBlock, block)));
    },
  };
}
