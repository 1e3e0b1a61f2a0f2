// Which tick of the event loop it is: what may be done so often in a tick is counted by it, without a timer for each
// that counts. One immediate for all, and none in a tick in which nobody asks.

let tick = 0;
let isAsked = false;

/** The same number within a tick, another one in the next. */
export function currentTick(): number {
  if (!isAsked) {
    isAsked = true;
    setImmediate(() => {
      isAsked = false;
      tick++;
    });
  }
  return tick;
}
