// Errors of the operating system without what only programmers read: the code, the system call, and the path, which the
// caller names.

/** What the operating system says, in its words: `EACCES: permission denied, open 'x'` is `permission denied`. */
export function whyNot(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /^E[A-Z0-9]+: ([^,]+)/.exec(text)?.[1] ?? text;
}

export const cannotBeRead = (error: Error): string => `cannot be read: ${whyNot(error)}`;
