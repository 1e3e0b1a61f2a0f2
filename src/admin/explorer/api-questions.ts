// The second half of the explorer's API (api.ts has the URLs and the rules): answers to questions about causes,
// objects, requests, the mesh, differences and pushes. Types only, imported by `ui/` as they are.

import type { EventRow, Json, JsonChange, Position, Problem, ProxyRow, PushRow, Split } from './api.ts';

export type WhyKind = 'cluster' | 'listener' | 'route' | 'virtual-host' | 'endpoint' | 'extension';

/** As `periplus explain … -o json`. */
export interface Why {
  readonly what: string;
  readonly proxy: string;
  readonly seq: number;
  readonly time: number;
  /** Present if the proxy has it. */
  readonly answer?: Json;
  readonly causes?: readonly Cause[];
  readonly jointly?: readonly {
    readonly objects: readonly string[];
    readonly decides: 'all' | 'part';
    readonly paths: readonly string[];
  }[];
  readonly readOnly?: readonly string[];
  readonly untried?: number;
  readonly missed: readonly string[];
  /** Present if the proxy does not have it. */
  readonly reasons?: readonly { readonly why: string; readonly lastChange?: LastChange; readonly proven: boolean }[];
  readonly goneSince?: {
    readonly seq: number;
    readonly time: number;
    readonly object: string;
    readonly lastChange?: LastChange;
  };
  readonly nearest?: readonly string[];
}

export interface Cause {
  readonly lastChange: LastChange;
  readonly decides: 'all' | 'part';
  readonly paths: readonly string[];
  readonly fields: readonly { readonly field: string; readonly value: Json; readonly decides: readonly string[] }[];
}

export interface LastChange {
  readonly object: string;
  readonly seq: number;
  readonly time?: number;
  readonly source: string;
  /** `file:line:column`; empty: not from a file. */
  readonly origin: string;
  readonly manager: string;
  readonly refused?: { readonly seq: number; readonly problems: readonly string[] };
}

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
  /** Newest first, of the whole journal; each with the difference to the one before. */
  readonly versions: readonly ObjectVersion[];
  /** There are older versions than those listed. */
  readonly more: boolean;
  readonly refersTo: readonly Reference[];
  readonly referredBy: readonly Reference[];
  /** Messages of the analyzers about it. */
  readonly findings: readonly { readonly code: string; readonly message: string; readonly path?: string }[];
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

export interface Mesh {
  readonly at: Position;
  readonly nodes: readonly MeshNode[];
  readonly edges: readonly MeshEdge[];
  /** Namespaces of the mesh; those in `folded` are one node each. */
  readonly namespaces: readonly string[];
  readonly folded: readonly string[];
  /** Of the whole mesh, folded or not, each once. */
  readonly problems: readonly MeshProblem[];
  /** Nodes or edges left out by a limit. */
  readonly leftOut: number;
}

export interface MeshProblem extends Problem {
  readonly node: string;
  /** Absent: of the node itself. */
  readonly to?: string;
  /** Ids of the proxies that have it. */
  readonly proxies: readonly string[];
  /** Of its nodes: a folded one of them has to be open for it to be seen. */
  readonly namespaces: readonly string[];
}

export interface MeshNode {
  /** `workload/ns/name`, `service/HOST`, `namespace/NAME`, `cluster/NAME` (a destination that is not there). */
  readonly id: string;
  readonly kind: 'workload' | 'gateway' | 'service' | 'external' | 'namespace' | 'missing';
  readonly title: string;
  /** Empty: none. */
  readonly namespace: string;
  /** Ids of its proxies: of a workload; of a folded namespace their number is in `count`. */
  readonly proxies: readonly string[];
  /** Proxies of a workload, endpoints of a service, nodes within a folded namespace. */
  readonly count: number;
  /** Of workloads and services with proxies: what inbound connections must be. */
  readonly mtls: 'strict' | 'permissive' | 'plaintext' | 'mixed' | 'unknown';
  /** Policies that its proxies enforce: `ALLOW name.namespace`. */
  readonly policies: readonly string[];
  /** Its own, and of a folded namespace those within it. `unreachable`: no workload that sends there arrives. */
  readonly problems: readonly Problem[];
}

export interface MeshEdge {
  readonly from: string;
  readonly to: string;
  /**
   * `routes`: an object (VirtualService, Gateway API route …) routes here. `visible`: only the default route of a
   * service that the caller sees. `backs`: a workload is an endpoint of a service.
   */
  readonly kind: 'routes' | 'visible' | 'backs';
  /** Edges that this one stands for: 1, or more between folded namespaces. */
  readonly count: number;
  /** Host and port as callers name them. */
  readonly hosts: readonly string[];
  /** Largest share of a route that leads here, 0 … 1. */
  readonly share: number;
  readonly splits: readonly Split[];
  readonly transport: 'mtls' | 'tls' | 'plaintext' | 'mixed' | 'unknown';
  /** By the policies at the workloads; `unasked`: none is in force there, or too many to ask. */
  readonly access: 'allowed' | 'denied' | 'depends' | 'unasked';
  readonly problems: readonly Problem[];
}

// --- differences -----------------------------------------------------------------------------------------------------

export interface WhatIfRequest {
  /** Documents to add or to put in place of those of the same name; may be empty. */
  readonly yaml: string;
  /** `Kind/namespace/name` */
  readonly delete: readonly string[];
}

/** As `periplus diff … -o json`. */
export interface Difference {
  readonly title: string;
  readonly from: Position;
  /** Of a what-if: equal to `from`. */
  readonly to: Position;
  readonly classes: readonly ChangeClass[];
  readonly unchanged: number;
  readonly warnings: readonly DiffWarning[];
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
  /** Of a what-if: what would not be accepted. */
  readonly refused: readonly string[];
  readonly markdown: string;
  /** The command line that asks the same. */
  readonly command: string;
}

export interface DiffWarning {
  /** `refused-by-envoy`, `missing-cluster`, `no-endpoints`, `endpoints-gone`, `order-only`, `parent-lost` … */
  readonly kind: string;
  readonly message: string;
}

export interface ChangeClass {
  readonly proxies: readonly string[];
  readonly summary: readonly string[];
  readonly warnings: readonly DiffWarning[];
  readonly access: {
    readonly changes: readonly {
      readonly direction: 'opens' | 'closes';
      readonly message: string;
      readonly caller: string;
      readonly requests: readonly string[];
      readonly policy: string;
    }[];
    readonly asked: number;
    readonly leftOut: number;
  };
  readonly resources: readonly {
    readonly typeUrl: string;
    readonly name: string;
    readonly change: 'added' | 'changed' | 'removed';
    readonly before?: Json;
    readonly after?: Json;
    readonly changes: readonly JsonChange[];
  }[];
}

// --- pushes ----------------------------------------------------------------------------------------------------------

export interface PushPage {
  /** Newest first. */
  readonly pushes: readonly PushRow[];
  readonly earlier: boolean;
}

/** As `periplus explain push … -o json`. */
export interface Push {
  readonly seq: number;
  readonly time: number;
  readonly typeUrl: string;
  readonly connections: readonly string[];
  readonly stateSeq: number;
  readonly previousStateSeq?: number;
  readonly resources: readonly {
    readonly name: string;
    readonly change: 'added' | 'changed' | 'removed';
    readonly changes: readonly JsonChange[];
    readonly because: readonly string[];
  }[];
  readonly unchanged: number;
  readonly causes: readonly {
    readonly seq: number;
    readonly time: number;
    readonly kind: string;
    readonly object: string;
    readonly source: string;
    readonly manager: string;
    readonly reasons: readonly string[];
  }[];
  /** Bytes of the added and changed resources as they are encoded. */
  readonly bytes: number;
  readonly nacks: PushRow['nacks'];
}

/** As `periplus explain nack … -o json`. */
export interface Nack {
  readonly seq: number;
  readonly time: number;
  readonly connection: string;
  readonly typeUrl: string;
  /** Envoy's words. */
  readonly message: string;
  readonly blamed: readonly string[];
  readonly push?: Omit<Push, 'bytes' | 'nacks'>;
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
    readonly nacks: readonly { readonly type: string; readonly seq: number; readonly message: string }[];
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

/** As `periplus incident … -o json`. */
export interface IncidentAnswer {
  readonly from: number;
  readonly to: number;
  readonly proxies: number;
  readonly leftOut: number;
  readonly evaluated: number;
  readonly breaks: readonly {
    readonly seq: number;
    readonly time: number;
    readonly source: string;
    readonly kind: string;
    readonly event: string;
    readonly symptoms: readonly IncidentSymptom[];
  }[];
  readonly before: readonly { readonly kind: string; readonly proxy: string; readonly what: string }[];
}

/** What the strip marks: the breaks of an incident. */
export interface Outages {
  readonly from: number;
  readonly to: number;
  /** False: the range is long, and `long=true` was not given. */
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

export interface IncidentSymptom {
  /** `cluster-missing`, `endpoints-lost`, `route-lost`, `refused`, `proxy-gone`, `nack`. */
  readonly kind: string;
  readonly what: string;
  readonly proxies: readonly string[];
  readonly lasts: boolean;
}
