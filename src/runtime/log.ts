// The log of the process: one line for each event on stderr, in istiod's format, or JSON with --log_as_json. Each part
// of the process logs in a scope of its own, whose level can be changed at run time (Istio pkg/log/scope.go).
// Invariant: it never contains a secret; callers log names, places and reasons, not contents.

import type { Clock } from './clock.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'none';

/** What each scope is about, as `istioctl admin log` shows it. */
export const logScopes = {
  default: 'Everything that is in no other scope.',
  ads: 'Streams of proxies: what is pushed and refused.',
  ca: 'The certificate authority and who proves what.',
  config: 'Sources of configuration: clusters, files, registries, and writing to clusters.',
  journal: 'The journal, snapshots and what is folded at the start.',
  multicluster: 'Remote clusters.',
  webhooks: 'Injection and validation.',
} as const;
export type LogScope = keyof typeof logScopes;

/** Has no scopes where an embedding program gives a plain function. */
export interface Log {
  (level: 'debug' | 'info' | 'warn' | 'error', message: string): void;
  readonly scope?: (name: LogScope) => Log;
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, none: 4 };

/** Longer messages are truncated. */
export const MESSAGE_CHARS_MAX = 4_096;
const LINE_ENDS = /[\n\r]/g;

export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(rank, text);
}

export function isLogScope(text: string): text is LogScope {
  return Object.hasOwn(logScopes, text);
}

/** The part of a log for one part of the process. */
export function scoped(log: Log, name: LogScope): Log {
  return log.scope?.(name) ?? log;
}

/** A log whose levels can be changed while the process runs, as `istioctl admin log` does. */
export type AdjustableLog = Log & {
  readonly level: (scope: LogScope) => LogLevel;
  readonly setLevel: (scope: LogScope, level: LogLevel) => void;
};

export function makeLog(options: {
  readonly level: LogLevel;
  /** Of scopes that differ. */
  readonly levels?: Readonly<Partial<Record<LogScope, LogLevel>>>;
  readonly json: boolean;
  readonly clock: Clock;
  readonly write: (line: string) => void;
}): AdjustableLog {
  const { level: common, levels = {}, json, clock, write } = options;
  const least = new Map<LogScope, LogLevel>();
  const levelOf = (name: LogScope): LogLevel => least.get(name) ?? levels[name] ?? common;
  const sayIn =
    (name: LogScope): Log =>
    (level, message) => {
      if (rank[level] < rank[levelOf(name)]) return;
      const time = new Date(clock.now()).toISOString();
      const msg = message.length > MESSAGE_CHARS_MAX ? `${message.slice(0, MESSAGE_CHARS_MAX)}…` : message;
      const scope = name === 'default' ? {} : { scope: name };
      const head = name === 'default' ? [time, level] : [time, level, name];
      // A line end in it would begin what looks like a line of ours.
      const line = msg.replace(LINE_ENDS, end => (end === '\n' ? '\\n' : '\\r'));
      write(json ? `${JSON.stringify({ time, level, ...scope, msg })}\n` : `${[...head, line].join('\t')}\n`);
    };
  const scope = (name: LogScope): Log => Object.assign(sayIn(name), { scope });
  const setLevel = (name: LogScope, level: LogLevel): void => void least.set(name, level);
  return Object.assign(sayIn('default'), { scope, level: levelOf, setLevel });
}
