// The schema of a journal file, and the refusal of any other. Views, triggers, virtual tables, generated columns,
// CHECK constraints, collations and indexes on expressions are programs of another, which run when the file is read,
// without end if they like. So the statements that SQLite keeps of a file must be those that made a journal.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { JournalFault } from './fault.ts';
import type { Db } from './sqlite-driver.ts';

const SCHEMA = new URL('../../journal/schema/0001-journal.sql', import.meta.url);
const ENCODING = 'UTF-8';
/** SQLite's own: what ANALYZE counts. */
const STATISTICS = /^sqlite_stat[134]$/;
export const LOCK_SCHEMA = 'CREATE TABLE IF NOT EXISTS owner (name TEXT NOT NULL)';
const COMMENT = /--[^\n]*/g;

interface Part {
  readonly name: string;
  readonly what: string;
  /** Null: SQLite makes it for a primary key. */
  readonly sql: string | null;
}

export function schemaText(): string {
  return readFileSync(fileURLToPath(SCHEMA), 'utf8');
}

/** Faults: `foreign`, `damaged`. */
export function refuseOtherSchema(db: Db, path: string): void {
  const encoding = db.pragma('encoding', { simple: true });
  if (encoding !== ENCODING) {
    throw new JournalFault('foreign', `its text is ${String(encoding)}, and that of a journal ${ENCODING}`, { path });
  }
  const missing = new Map(statements().map(sql => [nameOf(sql), sql]));
  const parts = db
    .prepare(
      `SELECT name, sql, CASE WHEN type = 'table' AND rootpage = 0 THEN 'virtual table' ELSE type END AS what
       FROM sqlite_master`,
    )
    .iterate() as IterableIterator<Part>;
  for (const { name, what, sql } of parts) {
    if (sql === null || STATISTICS.test(name)) continue;
    const expected = what === 'table' ? missing.get(name) : undefined;
    if (expected === undefined) {
      const message = `it has a ${what} ${name}, which no journal has; give another path`;
      throw new JournalFault('foreign', message, { path });
    }
    if (plain(sql) !== expected) {
      throw new JournalFault('foreign', `its table ${name} is not made as that of a journal; give another path`, {
        path,
      });
    }
    missing.delete(name);
  }
  const [lost] = missing.keys();
  if (lost !== undefined) throw new JournalFault('damaged', `its table ${lost} is missing; restore a copy`, { path });
}

/** A lock that another made could run programs of theirs. Faults: `foreign`. */
export function refuseOtherLock(db: Db, path: string): void {
  const parts = db.prepare('SELECT name, sql FROM sqlite_master LIMIT 2').all() as readonly Pick<
    Part,
    'name' | 'sql'
  >[];
  if (parts.every(({ sql }) => sql === LOCK_SCHEMA.replace('IF NOT EXISTS ', ''))) return;
  throw new JournalFault('foreign', 'not the lock of a journal; remove it if no process writes the journal', { path });
}

/** Of each table, as `plain` gives it. */
function statements(): readonly string[] {
  return plain(schemaText())
    .split(';')
    .map(sql => sql.trim())
    .filter(sql => sql !== '');
}

function plain(sql: string): string {
  return sql.replace(COMMENT, '').replace(/\s+/g, ' ').trim();
}

function nameOf(statement: string): string {
  return statement.split(' ')[2] ?? '';
}
