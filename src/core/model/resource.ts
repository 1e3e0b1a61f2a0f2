// A generated xDS resource: the message with every `Any` still unpacked. Its identity is its version: equal inputs give
// the identical resource, which is what encoding, comparison and sharing go by.

import type { Problem } from '../base/problem.ts';

export interface Resource<M> {
  readonly name: string;
  readonly message: M;
  /** Valid but useless input met on the way (dangling reference, conflict): best effort was made. */
  readonly problems: readonly Problem[];
  /** Other names that a client may ask for it by. */
  readonly aliases?: readonly string[];
}
