// Patched resources by the patches that acted on them: a patch that comes, goes or changes without an effect on a
// resource leaves the identical object, and so its bytes.

import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { Patched } from '../../generate/patch/outcome.ts';

interface Acted {
  readonly of: object;
  readonly acted: readonly EnvoyPatch[];
}

/** The result for `of`, the identical one for equal patches that acted; undefined: it is removed. */
export function kept<T extends object>(reader: ProxyReader, of: T, { result, acted }: Patched<T>): T | undefined {
  if (result === undefined || result === of) return result;
  // The result follows from the inputs (outcome.ts), so it need not be made a second time.
  const known: Generator<Acted, object> = { name: 'patch/kept', run: () => result };
  return reader.make(known, { of, acted }) as T;
}
