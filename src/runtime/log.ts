// The log of the process: one line for each event on stderr, in istiod's format, or JSON with --log_as_json. Invariant:
// it never contains a secret; callers log names, places and reasons, not contents.

import type { Clock } from './clock.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'none';
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', message: string) => void;

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, none: 4 };

/** Longer messages are truncated. */
export const MESSAGE_CHARS_MAX = 4_096;

export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(rank, text);
}

/** A log whose level can be changed while the process runs, as `istioctl admin log` does. */
export type AdjustableLog = Log & {
  readonly level: () => LogLevel;
  readonly setLevel: (level: LogLevel) => void;
};

export function makeLog(options: {
  readonly level: LogLevel;
  readonly json: boolean;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}): AdjustableLog {
  let least = options.level;
  const log: Log = (level, message) => {
    if (rank[level] < rank[least]) return;
    const time = new Date(options.clock.now()).toISOString();
    const msg = message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX)}…` : message;
    options.write(options.json ? `${JSON.stringify({ time, level, msg })}\n` : `${time}\t${level}\t${msg}\n`);
  };
  const setLevel = (level: LogLevel): void => {
    least = level;
  };
  return Object.assign(log, { level: () => least, setLevel });
}
