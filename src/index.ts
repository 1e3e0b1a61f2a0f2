// The package's entry, for programs that embed Periplus: fold a journal, ask what a proxy gets, watch a source of their own, run the
// control plane. Nothing inside src imports this file (`.dependency-cruiser.cjs`); what is not named here may change at any release.
//
//   const { state } = fold(emptyState, event, new Set());                          // one event after the other
//   const view = new Engine(resourceSources).viewOf(state, proxy);                 // what one proxy holds, encoded
//   const history = await openHistory('journal.db');                               // any position of a journal, explained and compared

export type { Adapter, AdapterLog, Sink, SourceStatus } from './adapters/adapter.ts';
export type { Answer, Resolve } from './adapters/dns/resolver.ts';
export { MemoryAdapter } from './adapters/memory/memory-adapter.ts';
export { canonicalJson, type Json, type JsonObject, jsonEqual } from './core/base/json.ts';
export { type Origin, type Problem, showOrigin, showProblem } from './core/base/problem.ts';
export type { Effect } from './core/effect.ts';
export type { Event, EventHead, Fact, FactKind, ObjectRef, PushReceipt, RawObject, Unrecorded } from './core/event.ts';
export { type Folded, fold } from './core/fold/fold-event.ts';
export { newsOf, newsOfKinds, newsOfList } from './core/fold/novelty.ts';
export type { UnreadVersion } from './core/fold/record.ts';
export { Restoring, restore } from './core/fold/restore.ts';
export { SNAPSHOT_FORMAT, type SourcedFact, snapshotOf } from './core/fold/snapshot.ts';
export type { Step } from './core/fold/step.ts';
export { defaultSettings, type Settings, settingsFromJson, settingsToJson } from './core/mesh/settings.ts';
export type { NodeFacets, ProxyRecord, Subscription } from './core/model/proxy.ts';
export { mergePushRequests, noPush, type PushRequest, pushRequestMonoid } from './core/push-request.ts';
export type { Provenance } from './core/query/provenance.ts';
export { Tracker } from './core/query/tracker.ts';
export { reduce } from './core/reduce.ts';
export { emptyState, type State } from './core/state.ts';
export type {
  ConfigStore,
  ListOptions,
  ObjectName,
  Stored,
  StoreError,
  StoreSchema,
  Written,
} from './core/stores/config-store.ts';
export { MemoryStore } from './core/stores/memory-store.ts';
export { aggregateStore, readOnly, sourceStore } from './core/stores/state-store.ts';
export { type Absence, explainAbsence, type Reason } from './history/absence.ts';
export { bisect, type Found, type Holds } from './history/bisect.ts';
export { type Brought, broughtBy } from './history/brought.ts';
export { type ConfigDump, configDump } from './history/config-dump.ts';
export { type ClassOfChanges, type Difference, differenceOf, type Side, type Warning } from './history/diff.ts';
export { type Cause, type Explanation, explain, type FieldCause } from './history/explain.ts';
export { History, openHistory } from './history/history.ts';
export { HistoryFault } from './history/history-fault.ts';
export { type Holdings, holdingsOf } from './history/holdings.ts';
export { type JsonChange, jsonDiff } from './history/json-diff.ts';
export { resolvePosition } from './history/position.ts';
export { type Proposal, propose } from './history/proposal.ts';
export { proxiesAt, proxyNamed } from './history/proxies.ts';
export { explainNack, explainPush, type NackExplanation, type PushExplanation } from './history/pushes.ts';
export {
  clusterQuestion,
  endpointQuestion,
  listenerQuestion,
  type Question,
  routeQuestion,
  virtualHostQuestion,
} from './history/question.ts';
export { compactTo, cutOf, type Retention } from './history/retention.ts';
export { type JournalStats, statsOf } from './history/stats.ts';
export { exportJournal } from './journal/export.ts';
export { JournalFault, type JournalFaultCode } from './journal/fault.ts';
export { importJournal } from './journal/import.ts';
export type { Durability, Head, Journal, Snapshot, StoredEvent, Verdict } from './journal/journal.ts';
export { type MemoryOptions, openMemoryJournal } from './journal/memory-journal.ts';
export { type OpenOptions, openJournal } from './journal/open.ts';
export { type HeldResources as Held, heldBy, heldIn, type MeshTexts } from './offline/held.ts';
export { foldHistory, stateHash } from './offline/load-state.ts';
export { type ReplayReport, replay } from './offline/verify-receipts.ts';
export { type Clock, systemClock } from './runtime/clock.ts';
export { type ConfigEvent, type ConfigEventHandler, ConfigStoreController } from './runtime/config-store.ts';
export { type ControlPlane, startControlPlane } from './runtime/control-plane.ts';
export { type Log, makeLog } from './runtime/log.ts';
export { RecordedStore } from './runtime/recorded-store.ts';
export { type Address, type ServeOptions, settingsFrom } from './runtime/serve-options.ts';
export { resourceSources } from './xds/assemble/types.ts';
export { type EncodedResource, encodeMessage, encodeResource } from './xds/engine/encode.ts';
export { Engine } from './xds/engine/engine.ts';
