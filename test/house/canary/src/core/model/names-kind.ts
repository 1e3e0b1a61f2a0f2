// A canary: the model imports a type of the kinds, a floor above, and closes a circle of type imports.

import type { NamedKind } from '../kinds/named.ts';

export interface Named {
  readonly kind: NamedKind | undefined;
}
