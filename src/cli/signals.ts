// Signals of a process that serves or records.
//
// SIGUSR1 makes Node open its debugger on a port of this machine, to which any local user may connect and read the keys
// and Secrets of the process. A listener takes the signal away from Node, in all of 20, 22 and 24; the flag that does
// the same (--disable-sigusr1) is not there in Node 20.
//
// SIGTERM and SIGINT are listened to before anything is loaded: the first process of a container that has no listener
// yet is not ended by them, and would be killed a grace period later.

import type { Log } from '../runtime/log.ts';

/** The exit code of a process that is asked a second time to stop. */
const INTERRUPTED = 1;

let asked: NodeJS.Signals | undefined;
let isListening = false;
const waiting: ((signal: NodeJS.Signals) => void)[] = [];

/** SIGUSR1 does nothing from now on. */
export function ignoreDebugSignal(): void {
  process.on('SIGUSR1', () => undefined);
}

/** From now on the first SIGTERM or SIGINT is remembered, and a second one ends the process at once. Idempotent. */
export function listenForStop(): void {
  if (isListening) return;
  isListening = true;
  const heard = (signal: NodeJS.Signals): void => {
    if (asked !== undefined) process.exit(INTERRUPTED);
    asked = signal;
    for (const tell of waiting.splice(0)) tell(signal);
  };
  process.on('SIGTERM', heard);
  process.on('SIGINT', heard);
}

/** Resolves at the first SIGTERM or SIGINT, at once if it has come already. */
export function stopSignal(log: Log): Promise<void> {
  listenForStop();
  const stopping = (signal: NodeJS.Signals): void => log('info', `${signal}: stopping`);
  if (asked !== undefined) {
    stopping(asked);
    return Promise.resolve();
  }
  return new Promise(resolve => {
    waiting.push(signal => {
      stopping(signal);
      resolve();
    });
  });
}

/**
 * What was started; undefined if it was to stop before that. Then it is stopped as soon as it is there, and given up
 * after `msMax`: the journal is whole at every moment. Rejects if the start fails.
 */
export async function startedUnless<T extends { stop(): Promise<void> }>(
  stopped: Promise<void>,
  starting: Promise<T>,
  msMax: number,
): Promise<T | undefined> {
  const first = await Promise.race([starting, stopped]);
  if (first !== undefined) return first;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, msMax);
  });
  const ended = starting.then(started => started.stop());
  await Promise.race([ended, late]);
  clearTimeout(timer);
  return undefined;
}

/** Ends the process: a start that was given up may go on trying, and what it has open is of no more use. */
export function stoppedEarly(log: Log): void {
  log('info', 'stopped before everything was open');
  process.exit(0);
}
