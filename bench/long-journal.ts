// A long journal of a mesh as `serve` records one: the mesh of mesh.ts and its endless small changes by several writers,
// proxies that come and go, receipts of what they are sent, refusals in Envoy's words. Always the same. What the
// explorer and the history are measured on.

import type { JsonObject } from '../src/core/base/json.ts';
import type { Unrecorded } from '../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../src/core/fold/snapshot.ts';
import { Checkpoints } from '../src/history/checkpoints.ts';
import { History } from '../src/history/history.ts';
import type { Journal } from '../src/journal/journal.ts';
import { openJournal } from '../src/journal/open.ts';
import { OLDER_SNAPSHOTS_MAX, SNAPSHOTS_KEPT } from '../src/runtime/snapshots.ts';
import { changes, meshFacts, sidecarOf } from './mesh.ts';

const BATCH = 2_000;
/** Every n-th service has a proxy. */
const CONNECTED = 10;
/** Between two events: a million of them are a month. */
const STEP_MS = 2_592;
/** A receipt after every n-th change, a refusal after every n-th, a proxy that reconnects after every n-th. */
const RECEIPT_EVERY = 5;
const REFUSAL_EVERY = 5_000;
const RECONNECT_EVERY = 2_500;
const CONNECTIONS_OF_RECEIPT = 10;
/** As many as `serve` keeps of a long history, evenly spread. */
const SNAPSHOTS = OLDER_SNAPSHOTS_MAX + SNAPSHOTS_KEPT;
const MANAGERS = ['kube-controller-manager', 'helm', 'argocd-controller', 'kubectl-edit'];
const TYPES = 'type.googleapis.com/envoy.config.';
const ENDPOINTS = `${TYPES}endpoint.v3.ClusterLoadAssignment`;
const ROUTES = `${TYPES}route.v3.RouteConfiguration`;
const CLUSTERS = `${TYPES}cluster.v3.Cluster`;
const REFUSAL =
  'Error adding/updating cluster(s) outbound|80||svc-4.team-0.svc.cluster.local: Proto constraint validation failed ' +
  '(ClusterValidationError.ConnectTimeout: value must be greater than 0s)';

/** Takes about two minutes for a million events of 500 services. */
export async function writeLongJournal(path: string, events: number, services: number): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const journal = await openJournal(path, { durability: 'off', clock: () => (now += STEP_MS) });
  let batch: Unrecorded[] = [];
  let seq = 0;
  for (const fact of factsOf(services)) {
    batch.push(fact);
    if (batch.length < BATCH && seq + batch.length < events) continue;
    await journal.append(batch);
    seq += batch.length;
    batch = [];
    if (seq >= events) break;
  }
  await writeSnapshots(journal, events);
  await journal.close();
}

async function writeSnapshots(journal: Journal, events: number): Promise<void> {
  // Each is a way from the one before.
  const history = new History(journal, { checkpoints: new Checkpoints(1) });
  for (let i = 1; i <= SNAPSHOTS; i++) {
    const seq = Math.floor((events * i) / SNAPSHOTS);
    const facts = snapshotOf(await history.at(seq));
    await journal.snapshots.write({ seq, format: SNAPSHOT_FORMAT, facts });
  }
}

function* factsOf(services: number): Generator<Unrecorded> {
  const proxies = Array.from({ length: Math.floor(services / CONNECTED) }, (_, i) => sidecarOf(i * CONNECTED));
  let seq = 0;
  const counted = (fact: Unrecorded): Unrecorded => {
    seq++;
    return fact;
  };
  for (const fact of [...meshFacts(services), ...proxies]) yield counted(fact);
  let i = -1;
  for (const change of changes(services)) {
    i++;
    yield counted(writtenBy(change, MANAGERS[i % 50 === 0 ? 1 + ((i / 50) % 3) : 0]!));
    const { connection } = proxies[i % proxies.length]!;
    if (i % RECEIPT_EVERY === 0) yield counted(receipt(i, seq, proxies, i % 50 === 0 ? ROUTES : ENDPOINTS));
    if (i % REFUSAL_EVERY === 1) {
      yield counted({ source: 'xds', kind: 'ProxyNacked', connection, typeUrl: CLUSTERS, message: REFUSAL });
    }
    if (i % RECONNECT_EVERY !== 2) continue;
    yield counted({ source: 'xds', kind: 'ProxyDisconnected', connection, reason: 'cancelled' });
    yield counted(proxies[i % proxies.length]!);
  }
}

function writtenBy(change: Unrecorded, manager: string): Unrecorded {
  if (change.kind !== 'Update') return change;
  const { metadata, ...object } = change.object;
  const managedFields = [{ manager, operation: 'Update', time: '2026-01-01T00:00:00Z' }];
  return { ...change, object: { ...object, metadata: { ...(metadata as JsonObject), managedFields } } };
}

function receipt(
  i: number,
  stateSeq: number,
  proxies: readonly { readonly connection: string }[],
  typeUrl: string,
): Unrecorded {
  const first = i % (proxies.length - CONNECTIONS_OF_RECEIPT + 1);
  const connections = proxies.slice(first, first + CONNECTIONS_OF_RECEIPT).map(({ connection }) => connection);
  return { source: 'xds', kind: 'Receipt', typeUrl, connections, stateSeq, digest: i.toString(16), count: 1 };
}
