// Tells the log of objects that stand in two files: once for each pair of files, not at every look.

import type { AdapterLog } from '../adapter.ts';

/** Remembered reports. */
const REPORTS_MAX = 1_000;

/** For Holdings: the object, the file that is used, the one that is not. */
export function repeatLog(log: AdapterLog): (key: string, used: string, ignored: string) => void {
  const reported = new Set<string>();
  return (key, used, ignored) => {
    const text = `${key} is in ${used} and in ${ignored}; the first is used`;
    if (reported.has(text)) return;
    if (reported.size >= REPORTS_MAX) reported.clear();
    reported.add(text);
    log('warn', text);
  };
}
