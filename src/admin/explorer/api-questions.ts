// The second half of the explorer's API (api.ts has the URLs and the rules): answers to questions about causes,
// objects, requests, the mesh, differences and pushes. Types only, imported by `ui/` as they are;
// those that functions of `src/history` return are declared there.

import type {
  Absence,
  ChangeClass,
  Explanation,
  LastChange,
  MeshDiff,
  MeshGraph,
  PushExplanation,
} from '../../history/answers.ts';
import type { EventRow, IndexState, JsonChange, Position, ProxyRow, PushRow } from './api.ts';

export type {
  Cause,
  ChangeClass,
  DiffWarning,
  FoundProblem as MeshProblem,
  GraphEdge as MeshEdge,
  GraphNode as MeshNode,
  Incident as IncidentAnswer,
  IncidentSymptom,
  LastChange,
  NackExplanation as Nack,
} from '../../history/answers.ts';

export type WhyKind = 'cluster' | 'listener' | 'route' | 'virtual-host' | 'endpoint' | 'extension';

/** As `periplus explain … -o json`: `causes` and what belongs to them if the proxy has it, else `reasons`. */
export type Why = Omit<Absence, 'reasons'> &
  Partial<Pick<Absence, 'reasons'>> &
  Partial<Pick<Explanation, 'answer' | 'causes' | 'jointly' | 'readOnly' | 'untried'>> & {
    readonly nearest?: readonly string[];
  };

// --- objects ---------------------------------------------------------------------------------------------------------

export interface ObjectList {
  readonly at: Position;
  readonly objects: readonly ObjectRow[];
}

export interface ObjectRow {
  /** `Kind/namespace/name` */
  readonly object: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  /** Event that brought the version in force; 0: none is. */
  readonly seq: number;
  /** A newer version was refused. */
  readonly refused: boolean;
}

export interface ObjectView {
  readonly at: Position;
  readonly object: string;
  /** Absent: there is no such object at this position; `versions` may have some. */
  readonly lastChange?: LastChange;
  /** The version in force, private values replaced. */
  readonly yaml?: string;
  /** As in ObjectVersions, of the whole journal, which is read for it; none with `versions=false`. */
  readonly versions: readonly ObjectVersion[];
  readonly more: boolean;
  readonly refersTo: readonly Reference[];
  readonly referredBy: readonly Reference[];
  /** Messages of the analyzers about it. */
  readonly findings: readonly { readonly code: string; readonly message: string; readonly path?: string }[];
}

/** As far as events are indexed. */
export interface ObjectVersions {
  readonly object: string;
  /** Newest first; each with the difference to the one before. */
  readonly versions: readonly ObjectVersion[];
  /** There are older versions than those listed. */
  readonly more: boolean;
  readonly index: IndexState;
}

export interface ObjectVersion {
  readonly row: EventRow;
  readonly change: 'added' | 'changed' | 'deleted' | 'refused';
  readonly changes: readonly JsonChange[];
  readonly problems: readonly string[];
}

export interface Reference {
  /** `Kind/namespace/name`; of what is not there the name as written. */
  readonly object: string;
  /** Field that refers, e.g. `spec.http[0].route[0].destination`. */
  readonly path: string;
  readonly exists: boolean;
}

/** What the object does for each class of proxies: the difference between the mesh without it and with it. */
export interface ObjectEffects {
  readonly at: Position;
  readonly object: string;
  readonly classes: readonly ChangeClass[];
  readonly unchanged: number;
  /** Why it does nothing, if it does nothing for any proxy, or for the asked one. */
  readonly obstacles: readonly { readonly why: string; readonly lastChange?: LastChange }[];
}

// --- requests --------------------------------------------------------------------------------------------------------

/** As `periplus trace … -o json`, with each branch's outcome as a sentence. */
export interface TraceAnswer {
  readonly at: Position;
  readonly from: string;
  readonly authority: string;
  readonly destination: string;
  /** Likeliest first. */
  readonly branches: readonly TraceBranch[];
  readonly arrived: readonly {
    readonly endpoint: string;
    readonly proxy?: string;
    readonly allowed?: 'yes' | 'no' | 'unknown';
    readonly why: string;
  }[];
  /** What the answer does not settle, one sentence each. */
  readonly open: readonly string[];
}

export interface TraceBranch {
  readonly probability: number;
  readonly outcome: 'forwarded' | 'answered' | 'closed' | 'stuck' | 'unknown';
  readonly sentence: string;
  readonly cluster?: string;
  readonly endpoint?: string;
  readonly status?: number;
  readonly steps: readonly TraceStep[];
  readonly unmodelled: readonly string[];
}

export interface TraceStep {
  /** `listener`, `filter chain`, `http filter`, `virtual host`, `route`, `cluster`, `endpoint` … */
  readonly stage: string;
  readonly name: string;
  readonly why: string;
  /** Candidates that did not match: `name: reason`. */
  readonly passedOver: readonly string[];
}

// --- mesh ------------------------------------------------------------------------------------------------------------

export interface Mesh extends MeshGraph {
  readonly at: Position;
}

// --- differences -----------------------------------------------------------------------------------------------------

/** As `periplus diff … -o json`. */
export interface Difference extends MeshDiff {
  readonly title: string;
  readonly from: Position;
  /** Of a what-if: equal to `from`. */
  readonly to: Position;
  /** Of a what-if: what would not be accepted. */
  readonly refused: readonly string[];
  readonly markdown: string;
  /** The command line that asks the same. */
  readonly command: string;
}

export interface WhatIfRequest {
  /** Documents to add or to put in place of those of the same name; may be empty. */
  readonly yaml: string;
  /** `Kind/namespace/name` */
  readonly delete: readonly string[];
}

// --- pushes ----------------------------------------------------------------------------------------------------------

/** As `periplus explain push … -o json`, with its refusals. */
export interface Push extends PushExplanation {
  readonly nacks: PushRow['nacks'];
}

export interface PushPage {
  /** Newest first. */
  readonly pushes: readonly PushRow[];
  readonly earlier: boolean;
}

/** How an event reached the proxies: receipts made from its state or a later one, within a minute. */
export interface Convergence {
  readonly event: EventRow;
  /** Proxies connected then that were sent nothing more before the next push have no steps. */
  readonly proxies: readonly {
    readonly proxy: ProxyRow['id'];
    readonly connection: string;
    /** Of each type the first receipt after it. */
    readonly sent: readonly { readonly type: string; readonly seq: number; readonly afterMs: number }[];
    readonly nacks: readonly {
      readonly type: string;
      readonly seq: number;
      readonly message: string;
      readonly reason: string;
    }[];
  }[];
  /** How many of the proxies that were sent something had been sent their last type by then. */
  readonly curve: readonly { readonly afterMs: number; readonly proxies: number }[];
}

/** How long after a change the proxies of a range were sent what followed of it, the slowest first. */
export interface SlowProxies {
  /** Of the events that were looked at. */
  readonly from: number;
  readonly to: number;
  readonly proxies: readonly SlowProxy[];
  readonly leftOut: number;
}

export interface SlowProxy {
  /** Empty: it was not connected at the end. */
  readonly proxy: ProxyRow['id'];
  readonly connection: string;
  readonly pushes: number;
  /** From the newest change that a push holds to the moment when it leaves; at least this long. */
  readonly medianMs: number;
  readonly longestMs: number;
  /** Absent: it was sent no push. */
  readonly longest?: { readonly seq: number; readonly type: string };
  readonly nacks: number;
  readonly disconnects: number;
}

// --- search ----------------------------------------------------------------------------------------------------------

/** `value`: the host, a part of the cluster's name (may be empty), the cluster, `type/NAME`, none. */
export type BisectConditionName = 'route-lost' | 'cluster-missing' | 'endpoints-lost' | 'resource-changed' | 'nack';

export interface BisectAnswer {
  readonly what: string;
  /** The first event after which it holds; absent: it holds at no position that was looked at. */
  readonly found?: {
    readonly seq: number;
    readonly held: number;
    readonly event: EventRow;
    readonly difference: Difference;
  };
  readonly evaluated: number;
  /** The command line that asks the same. */
  readonly command: string;
}

/** What the strip marks: the breaks of an incident. */
export interface Outages {
  readonly from: number;
  readonly to: number;
  /** False: the range is long or the mesh large, and `long=true` was not given. */
  readonly looked: boolean;
  /** The first one first. */
  readonly outages: readonly Outage[];
}

export interface Outage {
  readonly seq: number;
  readonly time: number;
  /** One line: the object and who changed it. */
  readonly event: string;
  /** `kind` as in IncidentSymptom; `proxies`: how many have it. */
  readonly warnings: readonly {
    readonly kind: string;
    readonly what: string;
    readonly proxies: number;
    readonly lasts: boolean;
  }[];
}
