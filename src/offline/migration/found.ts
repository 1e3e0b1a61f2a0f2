// One thing that a mesh has and a Periplus in istiod's place would not do, with the object that says it.

import type { Received } from '../../analysis/objects.ts';

export interface Found {
  /** Error: traffic or a policy would change. Warning: a setting has no effect, or another one. */
  readonly level: 'Error' | 'Warning';
  readonly text: string;
  readonly received: Received;
  /** Inside the object; absent for the whole of it. */
  readonly path?: string;
}
