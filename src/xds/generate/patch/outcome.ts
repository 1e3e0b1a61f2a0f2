// The effect of the patches on one resource: which acted on it, and which met a target that they cannot be applied to.
// A patch in neither list matched nothing there.

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';

export interface FailedPatch {
  readonly patch: EnvoyPatch;
  /** Why it is left out for this target. */
  readonly message: string;
}

/** `result`: undefined, the patches removed it. The identical resource if none acted. */
export interface Patched<T> {
  readonly result: T | undefined;
  readonly acted: readonly EnvoyPatch[];
  readonly failed: readonly FailedPatch[];
}

/** Collects for the length of one run. */
export class Outcome {
  readonly #acted = new Set<EnvoyPatch>();
  readonly #failed: FailedPatch[] = [];

  acted(patch: EnvoyPatch): void {
    this.#acted.add(patch);
  }

  /** Of several targets with the same reason the first is named. */
  failed(patch: EnvoyPatch, message: string): void {
    if (this.#failed.some(one => one.patch === patch && one.message === message)) return;
    this.#failed.push({ patch, message });
  }

  of<T>(result: T | undefined): Patched<T> {
    return { result, acted: [...this.#acted], failed: this.#failed };
  }
}
