// The entry `periplus/history`: any position of a journal as a state, each proxy's resources there, their causes, and
// the effect of a proposed change. The commands `explain`, `diff`, `bisect` and `replay` print what these functions
// return.

export type { ProxyRecord } from '../core/model/proxy.ts';
export type { Provenance } from '../core/query/provenance.ts';
export { Tracker } from '../core/query/tracker.ts';
export { type ReceiptMismatch, type ReplayReport, replay } from '../offline/verify-receipts.ts';
export { explainAbsence } from './absence.ts';
export type {
  Absence,
  AbsenceReason,
  AccessChange,
  AccessDifference,
  Cause,
  ChangeClass,
  ChangedResource,
  DiffWarning,
  Explanation,
  FieldCause,
  GoneSince,
  Incident,
  IncidentBreak,
  IncidentSymptom,
  JsonChange,
  LastChange,
  MeshDiff,
  NackExplanation,
  PositionRange,
  PushCause,
  PushExplanation,
  PushedResource,
  Symptom,
} from './answers.ts';
export { type BisectCondition, type BisectRange, type BisectResult, bisect } from './bisect.ts';
export { Checkpoints } from './checkpoints.ts';
export { type ConfigDump, configDump } from './config-dump.ts';
export { type DiffSide, diffMeshes } from './diff.ts';
export { explain } from './explain.ts';
export { History, type HistoryOptions, openHistory } from './history.ts';
export { HistoryFault } from './history-fault.ts';
export { type IncidentOptions, incident } from './incident.ts';
export { resolvePosition } from './position.ts';
export { type Proposal, propose } from './proposal.ts';
export { proxiesAt, proxyNamed } from './proxies.ts';
export type { DumpedResource } from './proxy-answers.ts';
export { explainNack, explainPush } from './pushes.ts';
export {
  clusterSubject,
  endpointSubject,
  listenerSubject,
  routeSubject,
  type Subject,
  virtualHostSubject,
} from './subject.ts';
