// The rules of Consul's blocking queries (https://developer.hashicorp.com/consul/api-docs/features/blocking). Pure.
//
// A question carries the index of the last answer and returns when the index has moved. An index that goes back comes
// from a server that was restored or lags behind: its answer is not taken, and the question is asked again without an
// index. Index 0 does not block, so it is never carried over.

export interface Heard {
  /** The index to ask with next; 0: the answer is to be had at once. */
  readonly next: number;
  /** The answer is the present content. */
  readonly isCurrent: boolean;
}

/** `sent`: the index of the question; `returned`: the header X-Consul-Index of its answer. */
export function heard(sent: number, returned: string | undefined): Heard {
  const index = Number(returned ?? '');
  if (!Number.isSafeInteger(index) || index < 1) return { next: sent === 0 ? 1 : 0, isCurrent: sent === 0 };
  return index < sent ? { next: 0, isCurrent: false } : { next: index, isCurrent: true };
}
