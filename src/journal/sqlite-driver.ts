// Which better-sqlite3 is used. Version 12, the last for Node 20, is built on node::ObjectWrap, and in newer releases
// of Node 24 that aborts the process when a statement or database is collected as garbage
// (`RemoveEnvironmentCleanupHook`, env != nullptr). Version 13 is built on Node-API, so it neither does that nor has to
// be compiled, but it needs Node-API 10 (Node 22.14). Both have the same interface.

import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';

const NODE_API_MIN = 10;
/** Version 13. Optional: what was installed by Node 20 does not have it. */
const BY_NODE_API = 'better-sqlite3-node-api';
const require = createRequire(import.meta.url);

export const Sqlite: typeof Database = load();
export type Db = Database.Database;

function load(): typeof Database {
  if (Number(process.versions.napi) >= NODE_API_MIN) {
    try {
      return require(BY_NODE_API) as typeof Database;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return require('better-sqlite3') as typeof Database;
}
