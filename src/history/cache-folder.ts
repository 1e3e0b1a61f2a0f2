// Where what can be made again is kept between runs: states beside a journal, compiled code, Envoy.

import { homedir } from 'node:os';
import { join } from 'node:path';

/** As the XDG Base Directory Specification has it. It may not be there yet. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'periplus');
}
