// What questions about one proxy are answered with, beside the rows of its tables (answers.ts): types only, of plain
// data, which the commands print and the explorer's API sends as they are.
//
// Invariant: nothing but JSON's types is imported, so that the page can use this file.

import type { JsonObject } from '../core/base/json.ts';

/** What a proxy was sent of one type. */
export interface TypeStatusAt {
  /** UNKNOWN: the last response is further back than is looked. */
  readonly status: 'SENT' | 'NOT_SENT' | 'ERROR' | 'UNKNOWN';
  /** State that the last response was made from. */
  readonly stateSeq?: number;
  readonly resources?: number;
  /** Digest of all that the client held after it. */
  readonly version?: string;
  readonly lastError?: string;
}

export interface DumpedResource {
  readonly name: string;
  /** Hash of the content. */
  readonly version: string;
  readonly resource: JsonObject;
}
