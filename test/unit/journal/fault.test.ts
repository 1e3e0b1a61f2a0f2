// What a fault says: the place, then the message; and how errors of others are told.

import { describe, expect, it } from 'vitest';
import { errorCode, errorText, JournalFault } from '../../../src/journal/fault.ts';
import { faultOf } from '../../../src/journal/sqlite-file.ts';

const sqlite = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe('a fault of the journal', () => {
  it('begins with the place that is known of it', () => {
    expect(new JournalFault('closed', 'closed').message).toBe('closed');
    expect(new JournalFault('closed', 'why', { path: 'a.db' }).message).toBe('a.db: why');
    expect(new JournalFault('closed', 'why', { seq: 0 }).message).toBe('seq 0: why');
    const all = new JournalFault('closed', 'why', { path: 'a.db', line: 2, seq: 3 });
    expect(all).toMatchObject({ message: 'a.db, line 2, seq 3: why', code: 'closed', path: 'a.db', line: 2, seq: 3 });
    expect(all.name).toBe('JournalFault');
  });

  it('has the cause it was given, and none else', () => {
    const cause = new Error('x');
    expect(new JournalFault('closed', 'why', { cause }).cause).toBe(cause);
    expect('cause' in new JournalFault('closed', 'why')).toBe(false);
  });

  it.each([
    ['SQLITE_CORRUPT', 'damaged'],
    ['SQLITE_CORRUPT_VTAB', 'damaged'],
    ['SQLITE_NOTADB', 'damaged'],
    ['SQLITE_ERROR', 'damaged'],
    ['SQLITE_BUSY', 'cannot-open'],
    ['SQLITE_ERROR_RETRY', 'cannot-open'],
    ['EACCES', 'cannot-open'],
  ] as const)('made of %s is one of %s', (code, expected) => {
    const error = sqlite(code, 'no');
    const fault = faultOf(error, 'a.db', 4);
    expect(fault).toMatchObject({ code: expected, path: 'a.db', cause: error });
    expect(fault.message).toContain(`${code}: no`);
    if (expected === 'damaged') expect(fault.message).toMatch(/^a\.db, seq 4: the file is damaged; restore it/);
    else expect(fault.message).toMatch(/^a\.db: the journal cannot be opened/);
    expect(faultOf(fault, 'other.db')).toBe(fault);
  });
});

describe('an error of another', () => {
  it('has the code that is on it, if that is text', () => {
    expect(errorCode(sqlite('ENOSPC', 'x'))).toBe('ENOSPC');
    for (const other of [new Error('x'), { code: 7 }, null, undefined, 'ENOSPC']) expect(errorCode(other)).toBe('');
  });

  it('has a text with its message, and with its code once', () => {
    expect(errorText(sqlite('ENOSPC', 'disk full'))).toBe('ENOSPC: disk full');
    expect(errorText(sqlite('ENOSPC', 'ENOSPC: no space left'))).toBe('ENOSPC: no space left');
    expect(errorText(new Error('plain'))).toBe('plain');
    expect(errorText('text')).toBe('text');
  });
});
