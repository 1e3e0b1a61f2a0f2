// How often the event loop turns while something long is done in slices.

export interface LoopTurns {
  readonly turns: number;
  stop(): void;
}

/** Counts, and calls `onTurn`, until it is stopped. */
export function countLoopTurns(onTurn: () => void = () => undefined): LoopTurns {
  let turns = 0;
  let running = true;
  const count = (): void => {
    onTurn();
    turns++;
    if (running) setImmediate(count);
  };
  setImmediate(count);
  return {
    get turns() {
      return turns;
    },
    stop: () => {
      running = false;
    },
  };
}
