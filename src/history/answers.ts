// What questions about a history are answered with: types only, of plain data. The functions of this folder return
// them, the commands print them with `-o json`, the explorer's API sends them and its page reads them, so that a field
// is declared once.
//
// Invariant: nothing but JSON's types is imported, so that the page can use this file.

import type { Json, JsonObject } from '../core/base/json.ts';

export interface JsonChange {
  /** e.g. `virtualHosts[reviews:9080].routes[0].route.cluster`; empty: the whole value. */
  readonly path: string;
  /** Undefined: it was not there. */
  readonly before?: Json;
  /** Undefined: it is gone. */
  readonly after?: Json;
  /** The same elements in another order. */
  readonly reordered?: true;
}

export interface LastChange {
  /** `Kind/namespace/name` */
  readonly object: string;
  /** The event; `time` is absent if it stands before the journal begins. */
  readonly seq: number;
  readonly time?: number;
  readonly source: string;
  /** `file:line:column`; empty: not from a file. */
  readonly origin: string;
  /** Of its managedFields the one who wrote last; empty: it does not say. */
  readonly manager: string;
  /** A newer version that was refused and is not in force. */
  readonly refused?: { readonly seq: number; readonly problems: readonly string[] };
}

export interface FieldCause {
  /** e.g. `spec.http[0].route[1].weight` */
  readonly field: string;
  readonly value: Json;
  /** Paths in the answer that differ without it; empty: the whole answer is absent without it. */
  readonly decides: readonly string[];
}

export interface Cause {
  readonly lastChange: LastChange;
  /** `all`: without the object there would be no answer. `part`: it would be another one. */
  readonly decides: 'all' | 'part';
  /** Paths in the answer that differ without the object. */
  readonly paths: readonly string[];
  readonly fields: readonly FieldCause[];
}

export interface Explanation {
  readonly what: string;
  readonly proxy: string;
  readonly seq: number;
  /** Of the position, ms since the epoch. */
  readonly time: number;
  readonly answer: JsonObject;
  /** Those that decide all of it first. */
  readonly causes: readonly Cause[];
  /** Objects of one kind of which any one would do: none of them alone matters, all of them do. */
  readonly jointly: readonly {
    readonly objects: readonly string[];
    readonly decides: 'all' | 'part';
    readonly paths: readonly string[];
  }[];
  /** Objects that were read and change nothing: `Kind/namespace/name`. */
  readonly readOnly: readonly string[];
  /** Look-ups without a result; a name that ends in `*` stands for every object of a range. */
  readonly missed: readonly string[];
  /** Objects that were not tried because there were too many. */
  readonly untried: number;
}

export interface GoneSince {
  readonly seq: number;
  readonly time: number;
  /** `Kind/namespace/name`; '' if it was the mesh configuration. */
  readonly object: string;
  readonly lastChange?: LastChange;
}

export interface AbsenceReason {
  /** A sentence. */
  readonly why: string;
  /** The object that it is about. */
  readonly lastChange?: LastChange;
  /** Without it the thing would be there; false: it may be why, and that cannot be tried. */
  readonly proven: boolean;
}

export interface Absence {
  readonly what: string;
  readonly proxy: string;
  readonly seq: number;
  readonly time: number;
  readonly reasons: readonly AbsenceReason[];
  /** The event after which it was not there any more; undefined: it never was as far back as was looked. */
  readonly goneSince?: GoneSince;
  /** `goneSince` was searched back to this event; undefined: it was found, or the whole journal was searched. */
  readonly searchedFrom?: number;
  readonly missed: readonly string[];
}

export interface AccessChange {
  readonly direction: 'opens' | 'closes';
  /** A sentence. */
  readonly message: string;
  readonly caller: string;
  readonly requests: readonly string[];
  /** The policy that decides now, or decided before; '' if it is the absence of one. */
  readonly policy: string;
}

export interface AccessDifference {
  readonly changes: readonly AccessChange[];
  readonly asked: number;
  /** Questions and values that were left out. */
  readonly leftOut: number;
}

export interface ChangedResource {
  readonly typeUrl: string;
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly before?: JsonObject;
  readonly after?: JsonObject;
  readonly changes: readonly JsonChange[];
}

export interface DiffWarning {
  readonly kind:
    | 'refused-by-envoy'
    | 'missing-cluster'
    | 'no-endpoints'
    | 'endpoints-gone'
    | 'order-only'
    | 'parent-lost';
  readonly message: string;
  /** The changed object that it is most likely about, `Kind/namespace/name`, and where that is, or was, written. */
  readonly object?: string;
  readonly place?: { readonly file: string; readonly line?: number; readonly column?: number };
}

export interface ChangeClass {
  /** Ids of the proxies, by name. */
  readonly proxies: readonly string[];
  readonly summary: readonly string[];
  readonly warnings: readonly DiffWarning[];
  /** What a change of policies opens and closes, asked of the first of the proxies. */
  readonly access: AccessDifference;
  readonly resources: readonly ChangedResource[];
}

export interface MeshDiff {
  /** Most proxies first. */
  readonly classes: readonly ChangeClass[];
  /** Proxies for which nothing changes. */
  readonly unchanged: number;
  /** Of no proxy in particular: routes that lose their parents. */
  readonly warnings: readonly DiffWarning[];
  /** Proxies of one side alone are not compared. */
  readonly onlyBefore: readonly string[];
  readonly onlyAfter: readonly string[];
}

export interface PushedResource {
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly changes: readonly JsonChange[];
  /** Objects it was made from that changed meanwhile. */
  readonly because: readonly string[];
}

/** An event that had something to say about what was sent. */
export interface PushCause {
  readonly seq: number;
  readonly time: number;
  readonly kind: string;
  /** `Kind/namespace/name`; empty: no object. */
  readonly object: string;
  readonly source: string;
  readonly manager: string;
  /** Istio's reasons, as metrics have them. */
  readonly reasons: readonly string[];
}

export interface PushExplanation {
  readonly seq: number;
  readonly time: number;
  readonly typeUrl: string;
  readonly connections: readonly string[];
  readonly stateSeq: number;
  /** State of the response before; undefined: this was the first of the type on the connection. */
  readonly previousStateSeq?: number;
  readonly resources: readonly PushedResource[];
  /** Unchanged resources. */
  readonly unchanged: number;
  /** Of the added and changed resources, as they are encoded. */
  readonly bytes: number;
  readonly causes: readonly PushCause[];
}

export interface NackExplanation {
  readonly seq: number;
  readonly time: number;
  readonly connection: string;
  readonly typeUrl: string;
  readonly message: string;
  /** The message without the resource that Envoy prints in it. */
  readonly reason: string;
  /** Resources that the message names. */
  readonly blamed: readonly string[];
  /** The response that was refused; undefined: the journal has none. */
  readonly push?: PushExplanation;
}

export interface Symptom {
  readonly kind: 'cluster-missing' | 'endpoints-lost' | 'route-lost' | 'refused' | 'proxy-gone';
  /** Id of the proxy that has it; empty: of the mesh. */
  readonly proxy: string;
  /** A cluster, a host, an object. */
  readonly what: string;
}

export interface PositionRange {
  readonly from: number;
  readonly to: number;
}

export interface IncidentSymptom {
  readonly kind: Symptom['kind'] | 'nack';
  readonly what: string;
  /** Ids of the proxies that have it. */
  readonly proxies: readonly string[];
  /** It holds at the end of the range, too. */
  readonly lasts: boolean;
}

export interface IncidentBreak {
  readonly seq: number;
  readonly time: number;
  readonly source: string;
  readonly kind: string;
  /** One line: the object and who changed it. */
  readonly event: string;
  readonly symptoms: readonly IncidentSymptom[];
}

export interface Incident extends PositionRange {
  readonly proxies: number;
  /** Proxies that were not asked about. */
  readonly leftOut: number;
  readonly evaluated: number;
  /** By event, the first one first. */
  readonly breaks: readonly IncidentBreak[];
  /** Symptoms that the range begins with. */
  readonly before: readonly Symptom[];
}

/** A part of the requests that a route sends. */
export interface Split {
  readonly cluster: string;
  readonly host: string;
  readonly port: number;
  readonly subset: string;
  /** 0 … 1 */
  readonly share: number;
  readonly endpoints?: number;
}

export interface SendProblem {
  readonly kind: 'missing-cluster' | 'no-endpoints' | 'nack';
  readonly message: string;
}

export interface GraphEdge {
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
  readonly transport: Transport;
  /** By the policies at the workloads; `unasked`: none is in force there, or too many to ask. */
  readonly access: 'allowed' | 'denied' | 'depends' | 'unasked';
  readonly problems: readonly SendProblem[];
  /** Splits and problems that a limit leaves out. */
  readonly leftOut: number;
}

export type Transport = 'mtls' | 'tls' | 'plaintext' | 'mixed' | 'unknown';

/** Of the graph as a whole: also what no single route shows. */
export interface GraphProblem {
  readonly kind: SendProblem['kind'] | 'unreachable';
  readonly message: string;
}

/** A problem of the mesh, once for all workloads that have it. */
export interface FoundProblem extends GraphProblem {
  /** Of a host that no workload reaches its service; else the first workload that has it. */
  readonly node: string;
  readonly to?: string;
  /** How many workloads have it. */
  readonly workloads: number;
  /** Of their proxies the first ones. */
  readonly proxies: readonly string[];
  readonly proxiesLeftOut: number;
  /** Of its nodes: a folded one of them has to be unfolded to see it. */
  readonly namespaces: readonly string[];
}

export interface GraphNode {
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
  readonly problems: readonly GraphProblem[];
  readonly problemsLeftOut: number;
}

export interface MeshGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Namespaces of the mesh; those in `folded` are one node each. */
  readonly namespaces: readonly string[];
  readonly folded: readonly string[];
  /** Of the whole mesh, folded or not, the worst first. */
  readonly problems: readonly FoundProblem[];
  readonly problemsLeftOut: number;
  /** Nodes or edges left out by a limit. */
  readonly leftOut: number;
}

export interface RouteShare {
  readonly cluster: string;
  /** 0 … 1 */
  readonly share: number;
}

export interface ClusterRow {
  readonly name: string;
  readonly fqdn: string;
  /** 0: not named after a service. */
  readonly port: number;
  readonly subset: string;
  /** Empty: not named after a service. */
  readonly direction: string;
  readonly type: string;
  /** `name.namespace`, or `BackendTLSPolicy/name.namespace`; empty: none. */
  readonly destinationRule: string;
}

export interface ListenerRow {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly match: string;
  readonly destination: string;
}

export interface RouteRow {
  readonly route: string;
  readonly virtualHost: string;
  readonly domains: readonly string[];
  readonly match: string;
  /** `name.namespace`, or `HTTPRoute/name.namespace` and so on, separated by commas; empty: none. */
  readonly virtualService: string;
  /** `80 % to v1, 20 % to v3`, `a redirect`; empty: there is no route. */
  readonly action: string;
  readonly shares: readonly RouteShare[];
}

export interface EndpointRow {
  /** `address:port` */
  readonly endpoint: string;
  readonly status: string;
  readonly weight: number;
  readonly cluster: string;
}
