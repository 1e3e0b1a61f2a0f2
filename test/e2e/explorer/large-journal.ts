// A journal of a mesh of any number of services, some of them with a connected proxy: half of the services have routes
// to subsets of which most are not there, and one service has no endpoint. What a large installation looks like to the
// explorer, with more problems than a page can list.

import { endpointSlice, meshFacts, namespaceOf, sidecarOf, update } from '../../../bench/mesh.ts';
import { openJournal } from '../../../src/journal/open.ts';

/** Every n-th service has a proxy. */
const CONNECTED = 10;
/** Whose service has no endpoint. */
export const DEAD = { name: 'svc-7', namespace: namespaceOf(7) };

export async function writeLargeJournal(path: string, services: number): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const journal = await openJournal(path, { durability: 'off', clock: () => ++now });
  const proxies = Array.from({ length: Math.floor(services / CONNECTED) }, (_, i) => sidecarOf(i * CONNECTED));
  await journal.append([...meshFacts(services), ...proxies, update(endpointSlice(7, 0))]);
  await journal.close();
}
