// Which tick of the event loop it is, for limits of what is done in one tick. One immediate serves all that ask, and
// there is none in a tick in which nothing asks.

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
