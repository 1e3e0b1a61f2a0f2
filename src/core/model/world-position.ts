// How far into the world log a state has come. Absent in the state of a process that keeps a journal of its own.
// Invariant: two replicas with equal positions and chains have folded the same facts of the world in the same order.

export interface WorldPosition {
  readonly log: string;
  /** Of the last entry. */
  readonly position: number;
  /** The newest term that began. */
  readonly term: number;
  /** Who began it. */
  readonly leader: string;
  /** Hex sha256 over all entries up to `position`. */
  readonly chain: string;
  /** Facts of the world so far, those of ignored entries left out. */
  readonly facts: number;
}
