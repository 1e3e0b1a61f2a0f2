// The effect of the patches on one resource: which acted on it, and which met a target that they cannot be applied to.
// A patch in neither list matched nothing there.

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import { Grown } from './merge.ts';

export interface FailedPatch {
  readonly patch: EnvoyPatch;
  /** Why it is left out for this target. */
  readonly message: string;
}

/**
 * `result`: undefined, the patches removed it; the identical resource if none changed it. It is a function of what was
 * patched and of the patches that acted, since others had no effect.
 */
export interface Patched<T> {
  readonly result: T | undefined;
  /** In the order of the lists that were applied. */
  readonly acted: readonly EnvoyPatch[];
  readonly failed: readonly FailedPatch[];
  /** Of looking at the patches and of what the merges copied, in units of the work budget (`Generator.work`). */
  readonly work: number;
}

/** Members of maps and elements of lists that are copied, or looked at, in about the time of one query. */
export const MEMBERS_PER_UNIT = 64;

/** Patches that are looked at, and that act, in that time. */
const PATCHES_PER_UNIT = 512;
const ACTED_PER_UNIT = 16;

export const patchWork = ({ work }: { readonly work: number }): number => work;

/** Collects the outcome of one run. `lists`: the patches that are applied. */
export class Outcome {
  readonly #lists: readonly (readonly EnvoyPatch[])[];
  readonly #acted = new Set<EnvoyPatch>();
  readonly #failed: FailedPatch[] = [];
  readonly #reasons = new Map<EnvoyPatch, Set<string>>();
  readonly grown = new Grown();

  constructor(...lists: readonly (readonly EnvoyPatch[])[]) {
    this.#lists = lists;
  }

  acted(patch: EnvoyPatch): void {
    this.#acted.add(patch);
  }

  /** Of several targets with the same reason the first is named. */
  failed(patch: EnvoyPatch, message: string): void {
    const reasons = this.#reasons.get(patch) ?? new Set();
    if (reasons.has(message)) return;
    this.#reasons.set(patch, reasons.add(message));
    this.#failed.push({ patch, message });
  }

  of<T>(result: T | undefined): Patched<T> {
    const acted = this.#acted;
    // A patch that occurs twice in a list acted twice.
    const inOrder = acted.size === 0 ? none : this.#lists.flatMap(list => list.filter(patch => acted.has(patch)));
    const looked = this.#lists.reduce((sum, { length }) => sum + length, 0) / PATCHES_PER_UNIT;
    const work = looked + acted.size / ACTED_PER_UNIT + this.grown.copied / MEMBERS_PER_UNIT;
    return { result, acted: inOrder, failed: this.#failed, work };
  }
}

const none: readonly EnvoyPatch[] = [];
