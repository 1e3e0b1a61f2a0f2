// The name table of a proxy, for the DNS server of its agent: one memoised entry a host. The agent expands short names
// itself.
// Source: Istio pkg/dns/server/name_table.go (BuildNameTable).

import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { NamedAddresses } from '../../../core/select/nametable/name-table.ts';
import type { NameTable, NameTable_NameInfo } from '../../proto/types.gen.ts';

/** A proxy has one table; agents ignore its name. */
const TABLE_NAME = 'NameTable';

type Entry = readonly [host: string, info: NameTable_NameInfo];

export const tableEntry: Generator<NamedAddresses, Entry> = {
  name: 'nametable/entry',
  run: ({ host, ips, registry, shortname, namespace }) => [
    host,
    { ips, registry, ...(shortname === '' ? {} : { shortname }), ...(namespace === '' ? {} : { namespace }) },
  ],
};

export const nameTable: Generator<{ readonly entries: readonly Entry[] }, Resource<NameTable>> = {
  name: 'nametable/table',
  run: ({ entries }) => {
    const sorted = [...entries].sort(([a], [b]) => compareText(a, b));
    const message = sorted.length === 0 ? {} : { table: Object.fromEntries(sorted) };
    return { name: TABLE_NAME, message, problems: [] };
  },
};
