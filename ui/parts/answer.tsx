// What is shown around an answer: that it is on its way and how far it is, or why there is none.

import type { ComponentChildren } from 'preact';
import type { Progress } from '../../src/admin/explorer/api.ts';
import type { Answered } from '../client/use-answer.ts';

interface AnswerProps<T> {
  readonly of: Answered<T>;
  readonly children: (data: T) => ComponentChildren;
  /** What is being waited for. */
  readonly what?: string;
}

export function Answer<T>({ of: { data, fault, progress }, children, what = 'Asking' }: AnswerProps<T>) {
  return (
    <>
      {fault !== undefined && (
        <p class="note danger" role="alert">
          {fault}
        </p>
      )}
      {data === undefined
        ? fault === undefined && (
            <p class="empty busy">
              {what} … <ProgressBar of={progress} />
            </p>
          )
        : progress !== undefined && (
            <p class="on-its-way">
              {what} … <ProgressBar of={progress} />
            </p>
          )}
      {data !== undefined && children(data)}
    </>
  );
}

/** Nothing in the first second. */
export function ProgressBar({ of: progress }: { readonly of: Progress | undefined }) {
  if (progress === undefined) return null;
  const { done, of } = progress;
  if (of <= 0) return <progress aria-label="Progress" />;
  const share = Math.min(1, done / of);
  return (
    <>
      <progress aria-label="Progress" max={1} value={share} /> <span class="mono">{Math.floor(100 * share)} %</span>
    </>
  );
}
