// The record of the head beside a journal: one line of fixed length, which claims nothing it does not know.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HeadRecorder, headRecordPath, readHeadRecord } from '../../../src/journal/head-record.ts';
import { refuseEmptied } from '../../../src/journal/sqlite-file.ts';
import { temporaryDirectory } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.db');
const hash = (digit: string): string => digit.repeat(64);

describe('the record of the head', () => {
  it('is the last one written, at one length', () => {
    const journal = path();
    const recorder = new HeadRecorder(journal);
    recorder.write({ seq: 123_456, hash: hash('a') });
    expect(readFileSync(headRecordPath(journal), 'latin1')).toBe(`periplus-head-v1           123456 ${hash('a')}\n`);
    recorder.write({ seq: 7, hash: hash('b') });
    expect(readHeadRecord(journal)).toEqual({ seq: 7, hash: hash('b') });
    expect(readFileSync(headRecordPath(journal), 'latin1')).toHaveLength(99);
    recorder.close();
    recorder.close();
    new HeadRecorder(journal).close();
    expect(readHeadRecord(journal)).toEqual({ seq: 7, hash: hash('b') });
  });

  it('is written again once it can be', () => {
    const journal = path();
    mkdirSync(headRecordPath(journal));
    const recorder = new HeadRecorder(journal);
    recorder.write({ seq: 1, hash: hash('a') });
    expect(readHeadRecord(journal)).toBeUndefined();
    rmSync(headRecordPath(journal), { recursive: true });
    recorder.write({ seq: 2, hash: hash('b') });
    recorder.close();
    expect(readHeadRecord(journal)?.seq).toBe(2);
  });

  it.each([
    ['nothing', ''],
    ['another text', 'hello\n'],
    ['a line cut off', `periplus-head-v1 ${' '.repeat(15)}7 ${hash('a').slice(1)}\n`],
    ['a line without its end', `periplus-head-v1 ${' '.repeat(15)}7 ${hash('a')}`],
    ['something before the line', `x periplus-head-v1 ${' '.repeat(15)}7 ${hash('a')}\n`],
    ['something behind the line', `periplus-head-v1 ${' '.repeat(15)}7 ${hash('a')}\nx`],
    ['no number', `periplus-head-v1 ${' '.repeat(16)} ${hash('a')}\n`],
    ['a newer format', `periplus-head-v2 ${' '.repeat(15)}7 ${hash('a')}\n`],
  ])('is none if the file has %s', (_what, text) => {
    const journal = path();
    writeFileSync(headRecordPath(journal), text);
    expect(readHeadRecord(journal)).toBeUndefined();
    expect(() => refuseEmptied(journal)).not.toThrow();
  });

  it('of a journal without events lets a missing file be a new journal', () => {
    const journal = path();
    writeFileSync(headRecordPath(journal), `periplus-head-v1 ${' '.repeat(15)}0 ${hash('a')}\n`);
    expect(() => refuseEmptied(journal)).not.toThrow();
    writeFileSync(headRecordPath(journal), `periplus-head-v1 ${' '.repeat(15)}1 ${hash('a')}\n`);
    expect(() => refuseEmptied(journal)).toThrow(expect.objectContaining({ code: 'emptied', path: journal }));
    expect(() => refuseEmptied(journal)).toThrow('the journal is not there, and it held events up to 1');
    writeFileSync(journal, '');
    expect(() => refuseEmptied(journal)).toThrow('the journal is empty, and it held events up to 1');
    writeFileSync(journal, 'x');
    expect(() => refuseEmptied(journal)).not.toThrow();
  });
});
