// What is shown around an answer: that it is on its way, or why there is none.

import type { ComponentChildren } from 'preact';
import type { Answered } from '../client/use-answer.ts';

interface AnswerProps<T> {
  readonly of: Answered<T>;
  readonly children: (data: T) => ComponentChildren;
  /** What is being waited for. */
  readonly what?: string;
}

export function Answer<T>({ of: { data, fault }, children, what = 'Asking' }: AnswerProps<T>) {
  return (
    <>
      {fault !== undefined && (
        <p class="note danger" role="alert">
          {fault}
        </p>
      )}
      {data !== undefined ? children(data) : fault === undefined && <p class="empty busy">{what} …</p>}
    </>
  );
}
