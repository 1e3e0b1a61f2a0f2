// The name table of a proxy: selects the addresses of each host and makes its entry, then the table of all entries.
// Source: Istio pilot/pkg/xds/nds.go (NdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { namedAddresses } from '../../../core/select/nametable/name-table.ts';
import { nameTable, tableEntry } from '../../generate/nametable/name-table.ts';
import type { NameTable } from '../../proto/types.gen.ts';

export const nameTables: Query<'', readonly Resource<NameTable>[]> = {
  name: 'nametable/nameTables',
  run: reader => {
    const entries = namedAddresses(reader).map(addresses => reader.make(tableEntry, addresses));
    return [reader.make(nameTable, { entries })];
  },
};
