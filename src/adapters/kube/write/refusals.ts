// What the API server refuses to write: recorded once as an object of kind WriteRefusal, until the write succeeds or
// the wish is another one. Failures that pass by themselves (conflicts, 429, 5xx, no connection) are troubles of the
// source only.

import { createHash } from 'node:crypto';
import type { Fact } from '../../../core/event.ts';
import { WRITES_API } from '../../../core/kinds/periplus/writes.ts';
import { showTarget, type Target } from '../../../core/wishes/wish.ts';
import { CONFLICT, type Failure, FORBIDDEN } from '../failure.ts';
import { REASON_LENGTH_MAX } from './limits.ts';

const TOO_MANY = 429;
/** Messages of the API server for an object in a namespace that is being deleted. */
const TERMINATING = /because it is being terminated/;

export class Refusals {
  readonly #say: (facts: readonly Fact[]) => void;
  readonly #troubles = new Map<string, string>();
  readonly #recorded = new Map<string, string>();

  constructor(say: (facts: readonly Fact[]) => void) {
    this.#say = say;
  }

  get troubles(): readonly string[] {
    return [...this.#troubles.values()];
  }

  /** True if this is news. */
  note(key: string, target: Target, failure: Failure): boolean {
    const { status, message } = failure;
    // The namespace is being deleted with all its objects, so there is nothing to repair.
    if (status === CONFLICT || (status === FORBIDDEN && TERMINATING.test(message))) return false;
    const reason = message.slice(0, REASON_LENGTH_MAX);
    const text = `${showTarget(target)}: ${reason}`;
    if (this.#troubles.get(key) === text) return false;
    this.#troubles.set(key, text);
    if (status >= 400 && status < 500 && status !== TOO_MANY) {
      const spec = { target: showTarget(target), status, reason };
      const object = { apiVersion: WRITES_API, kind: 'WriteRefusal', metadata: { name: nameOf(key) }, spec };
      this.#recorded.set(key, reason);
      this.#say([{ kind: 'Update', object }]);
    }
    return true;
  }

  clear(key: string): void {
    this.#troubles.delete(key);
    if (!this.#recorded.delete(key)) return;
    const ref = { apiVersion: WRITES_API, kind: 'WriteRefusal', namespace: '', name: nameOf(key) };
    this.#say([{ kind: 'Delete', ref }]);
  }
}

function nameOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
