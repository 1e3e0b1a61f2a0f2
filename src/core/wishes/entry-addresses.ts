// The addresses of ServiceEntries in their statuses: those that are to be there by
// core/registry/allocated-addresses.ts, and none where an author took allocation back. A written address is a fact like
// any other and pushes as a change of the ServiceEntry.
//
// A wish holds for the addresses that it was derived from: if another control plane wrote others meanwhile, it waits
// until they were folded.
// Source: Istio pilot/pkg/controllers/ipallocate/ipallocate.go.

import type { JsonObject } from '../base/json.ts';
import { configKey } from '../model/object.ts';
import type { Query } from '../query/reader.ts';
import { allocatedAddresses, type HostAddress, recordedAddresses } from '../registry/allocated-addresses.ts';
import { oneOf } from '../translate/derived.ts';
import { MANAGER, type Wish } from './wish.ts';

const ELECTION = 'istio-ip-autoallocate';

/** Argument ''. */
export const entryAddresses: Query<'', readonly Wish[]> = {
  name: 'wishes/entryAddresses',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_IP_AUTOALLOCATE')) return [];
    const stored = reader.objects('ServiceEntry').filter(({ uid }) => uid !== '');
    return stored.flatMap(({ namespace, name }) => reader.get(ofEntry, configKey(namespace, name)) ?? []);
  },
};

const ofEntry: Query<string, Wish | undefined> = {
  name: 'wishes/addressesOfEntry',
  run: (reader, key) => {
    const entry = reader.object('ServiceEntry', key);
    if (entry === undefined) return undefined;
    const wanted = reader.get(allocatedAddresses, key);
    const known = recordedAddresses(entry);
    if (wanted.length === 0 && known.length === 0) return undefined;
    const { namespace, name, uid } = entry;
    return oneOf<Wish>(reader, {
      cluster: reader.setting('clusterId'),
      kind: 'ServiceEntry',
      namespace,
      name,
      subresource: 'status',
      manager: MANAGER,
      fields: statusWith(wanted),
      verb: 'merge',
      gate: ELECTION,
      precondition: { uid, read: statusWith(entry.spec.status?.addresses ?? []) },
    });
  },
};

function statusWith(addresses: readonly Partial<HostAddress>[]): JsonObject {
  return { status: { addresses: addresses.map(address => ({ ...address })) } };
}
