// What passes between the process and the explorer's threads. A thread opens the journal for itself, read-only, so
// that long questions hold up nothing else: the process only passes text on.

/** `timeline`: the index of events. `state`: one position. `search`: many positions, and states that never were. */
export type Lane = 'timeline' | 'state' | 'search';

export interface ThreadSetup {
  readonly lane: Lane;
  readonly journal: string;
  /** What people call it; default: its path. */
  readonly title?: string;
  readonly keyFile?: string;
  readonly mode: 'serve' | 'file';
  /** Started before it was asked anything: there is time for what the first questions need. */
  readonly isAhead?: boolean;
  /** One Int32: how many questions about events or one position are being answered, in whatever thread. */
  readonly answering: SharedArrayBuffer;
}

export interface ThreadQuestion {
  readonly id: number;
  /** Below /api/v1, e.g. `/proxies`. */
  readonly path: string;
  readonly query: string;
  readonly body: string;
  readonly viewer: 'all' | { readonly namespace: string };
  /** One Int32 that is 1 once the answer is not wanted any more. */
  readonly cancel: SharedArrayBuffer;
}

export type ThreadMessage =
  | 'ready'
  | { readonly id: number; readonly progress: { readonly done: number; readonly of: number } }
  /** JSON, in UTF-8. */
  | {
      readonly id: number;
      readonly status: number;
      readonly answer: Uint8Array;
      /** For the log, not for the asker. */
      readonly failure?: string;
    };
