// Signals that mean something to Node and nothing to Periplus.
//
// SIGUSR1 makes Node open its debugger on a port of this machine, to which any local user may connect and read the keys
// and Secrets of the process. A listener takes the signal away from Node, in all of 20, 22 and 24; the flag that does
// the same (--disable-sigusr1) is not there in Node 20.

/** SIGUSR1 does nothing from now on. */
export function ignoreDebugSignal(): void {
  process.on('SIGUSR1', () => undefined);
}
