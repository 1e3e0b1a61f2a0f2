// The entry `periplus/history`: any position of a journal as a state, each proxy's resources there, their causes, and
// the effect of a proposed change. The commands `explain`, `diff`, `bisect` and `replay` print what these functions
// return.

export type { ProxyRecord } from '../core/model/proxy.ts';
export type { Provenance } from '../core/query/provenance.ts';
export { Tracker } from '../core/query/tracker.ts';
export { type ReceiptMismatch, type ReplayReport, replay } from '../offline/verify-receipts.ts';
export { type Absence, type AbsenceReason, explainAbsence } from './absence.ts';
export type { AccessChange, AccessDifference } from './access/changes.ts';
export { type BisectCondition, type BisectRange, type BisectResult, bisect } from './bisect.ts';
export { Checkpoints } from './checkpoints.ts';
export { type ConfigDump, configDump, type DumpedResource } from './config-dump.ts';
export type { PositionRange } from './connected-during.ts';
export {
  type ChangeClass,
  type DiffSide,
  type DiffWarning,
  diffMeshes,
  type MeshDiff,
  type WarningKind,
} from './diff.ts';
export { type Cause, type Explanation, explain, type FieldCause, type Jointly } from './explain.ts';
export type { GoneSince } from './gone-since.ts';
export { History, type HistoryOptions, openHistory } from './history.ts';
export { HistoryFault } from './history-fault.ts';
export { type Incident, type IncidentBreak, type IncidentOptions, type IncidentSymptom, incident } from './incident.ts';
export type { JsonChange } from './json-diff.ts';
export type { LastChange } from './last-change.ts';
export { resolvePosition } from './position.ts';
export { type Proposal, propose } from './proposal.ts';
export { proxiesAt, proxyNamed } from './proxies.ts';
export {
  explainNack,
  explainPush,
  type NackExplanation,
  type PushCause,
  type PushExplanation,
  type PushedResource,
} from './pushes.ts';
export {
  clusterSubject,
  endpointSubject,
  listenerSubject,
  routeSubject,
  type Subject,
  virtualHostSubject,
} from './subject.ts';
export type { ChangedResource } from './summary.ts';
export type { Symptom, SymptomKind } from './symptoms.ts';
