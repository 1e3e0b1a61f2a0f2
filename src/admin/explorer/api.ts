// Requests and responses of the explorer's HTTP API, version 1: types only. What the functions of `src/history` return
// is sent as it is, and declared there (`answers.ts`, `proxy-answers.ts`); `ui/` uses this file and api-questions.ts
// (why, objects, mesh, differences, pushes, bisect) as they are.
// docs/reference/http-api.md describes each in words. Served by `periplus ui` and by `serve`.
//
// Rules: fields are added, never renamed or given another meaning. Times are ms since the epoch; positions are event
// numbers. `at`, `from` and `to` take every form that `--at` takes (17, head~3, a time, -10m); answers name the number.
// Private values are replaced by placeholders. All texts are untrusted: show them as text, never as HTML.
// Errors have the shape Fault, with 400 (bad question), 401/403 (no right), 404 (no such thing), 409 (superseded by a
// newer question of the same client), 413 (body too large), 503 (too many questions).
// Clients send `x-periplus-client: <any word, constant for a page>`; a new question of a client cancels its running one
// of the same path. Aborting a request cancels its question.
//
// GET  /api/v1/info                                                            Info
// GET  /api/v1/density?by=seq|time&buckets=200&split=kind|source|manager|namespace&from&to&FILTER   Density
// GET  /api/v1/events?limit=100&before=SEQ | &after=SEQ | &from&to&FILTER      EventPage
// GET  /api/v1/live?after=SEQ&FILTER      text/event-stream: event `events`, data LiveBatch; `: ping` every 15 s
// GET  /api/v1/event?seq=N                                                     EventDetail
// GET  /api/v1/position?at=TEXT                                                Position
// GET  /api/v1/proxies?at                                                      ProxyList
// GET  /api/v1/proxy?proxy&at                                                  ProxyView
// GET  /api/v1/proxy/raw?proxy&at&type=CDS|EDS|LDS|RDS|SDS|ECDS|NDS&name       RawResources
// GET  /api/v1/proxy/history?proxy&type&name&from&to                           ResourceHistory
// GET  /api/v1/why?proxy&at&kind=WhyKind&name&route&cluster                    Why
// GET  /api/v1/objects?at                                                      ObjectList
// GET  /api/v1/object?object=Kind/ns/name&at&versions=false                    ObjectView
// GET  /api/v1/object/versions?object=Kind/ns/name&to                          ObjectVersions
// GET  /api/v1/object/effect?object&at&proxy                                   ObjectEffects
// GET  /api/v1/trace?at&source=PROXY&to=host:port&method&path&header=name:value (repeatable)&tcp=true   TraceAnswer
// GET  /api/v1/mesh?at&fold=auto|all|none&open=NAMESPACE (repeatable)          Mesh
// GET  /api/v1/diff?from&to&proxy                                              Difference
// POST /api/v1/what-if?at&proxy  application/json, WhatIfRequest               Difference
// GET  /api/v1/pushes?from&to&before=SEQ&limit=50                              PushPage
// GET  /api/v1/push?seq=N                                                      Push
// GET  /api/v1/nack?seq=N                                                      Nack
// GET  /api/v1/convergence?seq=N                                               Convergence
// GET  /api/v1/slow?from&to                                                   SlowProxies
// GET  /api/v1/bisect?from&to&proxy&condition=BisectConditionName&value        BisectAnswer
// GET  /api/v1/incident?from&to&proxy                                          IncidentAnswer
// GET  /api/v1/outages?from&to&long=true                                       Outages
// Any, with `accept: text/event-stream`: events `progress` (Progress), then one of `answer` or `fault`. With JSON
// accepted as well, the stream is for what takes longer than a second.
// The page itself is `dist/ui/` (index.html and assets), served below /ui/.
// FILTER: kind, source, manager, namespace, object=Kind/ns/name (each repeatable; any of one name, all of several) and
// text=WORDS (all words, in the event's line).

import type { Json } from '../../core/base/json.ts';
import type * as Columns from '../../history/answers.ts';
import type { EndpointRow, JsonChange, ListenerRow, GraphProblem as Problem, Split } from '../../history/answers.ts';
import type { DumpedResource, TypeStatusAt } from '../../history/proxy-answers.ts';

export type { Json } from '../../core/base/json.ts';
export type { EndpointRow, GraphProblem as Problem, JsonChange, ListenerRow, Split } from '../../history/answers.ts';

export interface Fault {
  readonly error: string;
}

export interface Progress {
  readonly done: number;
  /** An estimate; 0: not known yet. */
  readonly of: number;
}

export interface Position {
  readonly seq: number;
  readonly time: number;
}

// --- timeline --------------------------------------------------------------------------------------------------------

export interface Info {
  readonly api: 1;
  readonly version: string;
  readonly journal: string;
  /** `serve`: new events come. */
  readonly mode: 'serve' | 'file';
  /** What the caller may see: everything, or the proxies of a namespace (timeline, objects, mesh then answer 403). */
  readonly viewer: 'all' | { readonly namespace: string };
  readonly first: Position;
  readonly head: Position;
  readonly events: number;
  /** Every kind of fact, source and manager of the indexed events with its number of events, most first. */
  readonly kinds: readonly Count[];
  readonly sources: readonly Count[];
  readonly managers: readonly Count[];
  readonly namespaces: readonly Count[];
  readonly snapshots: readonly number[];
  readonly index: IndexState;
}

export interface Count {
  readonly name: string;
  readonly events: number;
}

/** Events are indexed from the newest to the oldest; filters, splits and counts cover `from`…`to` until `complete`. */
export interface IndexState {
  readonly from: number;
  readonly to: number;
  readonly complete: boolean;
}

export interface Density {
  readonly by: 'seq' | 'time';
  readonly from: Position;
  readonly to: Position;
  readonly buckets: readonly Bucket[];
  /** Names in `Bucket.parts`, in that order: the most frequent; `other` is the last if there are more. */
  readonly parts: readonly string[];
  readonly index: IndexState;
  /** The events whose objects are judged: `Marks.refusedObjects` counts those of them. */
  readonly verdicts: IndexState;
}

export interface Bucket {
  /** First and last event; `to` < `from`: none. */
  readonly from: number;
  readonly to: number;
  readonly fromTime: number;
  readonly toTime: number;
  /** Events that pass the filter; of a bucket that is not indexed yet: all. */
  readonly events: number;
  /** By the requested split, in the order of `Density.parts`. */
  readonly parts: readonly number[];
  readonly marks: Marks;
}

/** What a timeline marks, counted regardless of filters. */
export interface Marks {
  readonly pushes: number;
  readonly nacks: number;
  readonly connects: number;
  readonly disconnects: number;
  /** Versions of objects that are refused, as far as they are judged. */
  readonly refusedObjects: number;
  /** Malformed, Gap, Rejected. */
  readonly troubles: number;
}

export interface EventRow {
  readonly seq: number;
  readonly time: number;
  readonly kind: string;
  readonly source: string;
  /** Empty: unknown. */
  readonly manager: string;
  /** `Kind/namespace/name`; empty: about no object. */
  readonly object: string;
  /** One line. */
  readonly summary: string;
  /** In lists of events: the version of the object is refused. */
  readonly refused?: true;
}

export interface EventPage {
  /** Ascending by seq. */
  readonly rows: readonly EventRow[];
  /** All that pass the filter in the range; rows are a page of them. */
  readonly total: number;
  /** There are earlier and later ones that pass. */
  readonly earlier: boolean;
  readonly later: boolean;
  readonly index: IndexState;
}

export interface LiveBatch {
  readonly head: Position;
  /** Those that pass the filter, at most 200; `skipped` counts the others of them. */
  readonly rows: readonly EventRow[];
  readonly skipped: number;
}

export interface EventDetail {
  readonly row: EventRow;
  /** As `journal ls -o json` prints it. */
  readonly event: Json;
  /** Of an object: the version before it in force, the difference to it, and both as YAML. */
  readonly object?: {
    readonly object: string;
    readonly before?: { readonly seq: number; readonly yaml: string };
    readonly after?: { readonly yaml: string };
    readonly changes: readonly JsonChange[];
    readonly earlier?: number;
    readonly later?: number;
    /** Why this version was refused. */
    readonly problems: readonly string[];
  };
  /** Receipts made of it first, and what they were about. */
  readonly pushes: readonly PushRow[];
}

export interface PushRow {
  readonly seq: number;
  readonly time: number;
  readonly type: string;
  readonly connections: readonly string[];
  readonly stateSeq: number;
  /** Resources that the client holds of the type after it. */
  readonly resources: number;
  /** Refusals of the type by these connections before their next response of it. */
  readonly nacks: readonly {
    readonly seq: number;
    readonly connection: string;
    readonly message: string;
    /** The message without the resource that Envoy prints in it. */
    readonly reason: string;
  }[];
}

// --- proxies ---------------------------------------------------------------------------------------------------------

export interface ProxyList {
  readonly at: Position;
  readonly proxies: readonly ProxyRow[];
}

export interface ProxyRow {
  /** `pod.namespace`: what `proxy` parameters take. */
  readonly id: string;
  readonly connection: string;
  readonly namespace: string;
  readonly type: string;
  readonly cluster: string;
  readonly version: string;
  readonly ips: readonly string[];
  readonly workload: string;
  readonly protocol: 'sotw' | 'delta';
  readonly connectedAt: number;
  readonly connectedSeq: number;
  /** By short type name, in push order. */
  readonly types: Readonly<Record<string, TypeStatusAt>>;
}

export interface ProxyView {
  readonly at: Position;
  readonly proxy: ProxyRow;
  readonly clusters: readonly ClusterRow[];
  readonly listeners: readonly ListenerRow[];
  readonly routes: readonly RouteRow[];
  readonly endpoints: readonly EndpointRow[];
  readonly secrets: readonly string[];
  readonly extensions: readonly string[];
}

export interface ClusterRow extends Columns.ClusterRow {
  /** Undefined: it does not find them by EDS. */
  readonly endpoints?: number;
  readonly problems: readonly Problem[];
}

export interface RouteRow extends Omit<Columns.RouteRow, 'shares'> {
  readonly splits: readonly Split[];
  readonly problems: readonly Problem[];
}

export interface RawResources {
  readonly at: Position;
  readonly proxy: string;
  readonly configs: readonly {
    readonly typeUrl: string;
    readonly type: string;
    readonly resources: readonly DumpedResource[];
  }[];
}

export interface ResourceHistory {
  readonly proxy: string;
  readonly type: string;
  readonly name: string;
  /** Newest first; `changes` are against the version before. */
  readonly versions: readonly {
    readonly at: Position;
    readonly version: string;
    readonly change: 'added' | 'changed' | 'removed';
    readonly changes: readonly JsonChange[];
    /** The events after the version before, up to this one, that objects it is made of came with. */
    readonly causes: readonly EventRow[];
  }[];
  /** The position from which on all versions are listed. */
  readonly since: number;
}
