// The entry `periplus/journal`: open, read, append, verify, export and import a journal. docs/journal-format.md has the
// format; docs/guides/journal.md an example.

export type {
  CertificateIssued,
  CertificateRefused,
  EngineConfigured,
  Event,
  EventHead,
  EventRejected,
  Fact,
  GapRecorded,
  InputMalformed,
  MeshConfigSet,
  MeshLayer,
  MeshNetworksSet,
  NamesListed,
  ObjectAdded,
  ObjectDeleted,
  ProxyConnected,
  ProxyDisconnected,
  ProxyNacked,
  ProxySubscribed,
  PushReceipt,
  SourceSynced,
  TimerFired,
  Unrecorded,
  ValueInterned,
  WorldEntryFolded,
} from '../core/event.ts';
export type { UnreadVersion } from '../core/fold/record.ts';
export type { Caller, Proof } from '../core/model/caller.ts';
export { type ExportOptions, exportJournal } from './export.ts';
export { type FaultPlace, JournalFault, type JournalFaultCode } from './fault.ts';
export { type ImportOptions, importJournal } from './import.ts';
export type {
  Carried,
  ChainPoint,
  Clock,
  CompactOptions,
  Durability,
  Finding,
  Follow,
  Head,
  Journal,
  Lost,
  Range,
  ReadRange,
  RecordsRange,
  Snapshot,
  SnapshotFact,
  SnapshotInfo,
  Snapshots,
  StoredEvent,
  Verdict,
} from './journal.ts';
export { type MemoryOptions, openMemoryJournal } from './memory-journal.ts';
export { type OpenOptions, openJournal } from './open.ts';
export type { MarkedPath } from './private-values.ts';
export type { PrivatePaths } from './vault.ts';
