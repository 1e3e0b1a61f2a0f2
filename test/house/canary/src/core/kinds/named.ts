// A canary: half of a circle of type imports.

import type { Named } from '../model/names-kind.ts';

export interface NamedKind {
  readonly named: Named | undefined;
}
