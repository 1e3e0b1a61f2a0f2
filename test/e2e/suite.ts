// A suite that misses something says by its name that it did not run. Where everything has to run (CI), that is a
// failure.

/**
 * True if the suite can run. Throws if it cannot and `PERIPLUS_REQUIRE_ALL` is 1. `missing`: what it lacks, if
 * anything.
 */
export function canRun(suite: string, missing: string | undefined): boolean {
  if (missing === undefined) return true;
  const message = `${suite} did NOT run: ${missing}`;
  if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return false;
}
