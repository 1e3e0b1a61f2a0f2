// The name table of a proxy, for the DNS server of its agent. The agent expands short names itself.
// Source: Istio pkg/dns/server/name_table.go, pilot/pkg/xds/nds.go; spec-routes-visibility §19.

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Query } from '../../../core/query/reader.ts';
import { type NamedAddresses, namedAddresses } from '../../../core/select/nametable/name-table.ts';
import type { NameTable, NameTable_NameInfo } from '../../proto/types.gen.ts';

/** There is one table a proxy; agents do not look at its name. */
const TABLE_NAME = 'NameTable';

export const nameTables: Query<'', readonly Resource<NameTable>[]> = {
  name: 'nametable/nameTables',
  run: reader => {
    const entries = namedAddresses(reader).map(addresses => reader.make(tableEntry, addresses));
    return [reader.make(nameTable, { entries })];
  },
};

type Entry = readonly [host: string, info: NameTable_NameInfo];

const tableEntry: Generator<NamedAddresses, Entry> = {
  name: 'nametable/entry',
  run: ({ host, ips, registry, shortname, namespace }) => [
    host,
    { ips, registry, ...(shortname === '' ? {} : { shortname }), ...(namespace === '' ? {} : { namespace }) },
  ],
};

const nameTable: Generator<{ readonly entries: readonly Entry[] }, Resource<NameTable>> = {
  name: 'nametable/table',
  run: ({ entries }) => {
    const sorted = [...entries].sort(([a], [b]) => compareText(a, b));
    const message = sorted.length === 0 ? {} : { table: Object.fromEntries(sorted) };
    return { name: TABLE_NAME, message, problems: [] };
  },
};
