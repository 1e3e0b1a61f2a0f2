// The log: one line an event, filtered by level, in two forms, of bounded length.

import { expect, test } from 'vitest';
import { isLogLevel, type LogLevel, MESSAGE_CHARS_MAX, makeLog } from '../../../src/runtime/log.ts';

function lines(level: LogLevel, json: boolean, say: (log: ReturnType<typeof makeLog>) => void): readonly string[] {
  const written: string[] = [];
  const clock = { now: () => 1_000, after: () => ({ cancel: () => undefined }) };
  say(makeLog({ level, json, clock, write: line => written.push(line) }));
  return written;
}

test.each<[LogLevel, readonly string[]]>([
  ['debug', ['debug', 'info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['none', []],
])('the log at level %s writes messages of at least that level', (level, expected) => {
  const written = lines(level, false, log => {
    for (const one of ['debug', 'info', 'warn', 'error'] as const) log(one, 'x');
  });
  expect(written).toEqual(expected.map(one => `1970-01-01T00:00:01.000Z\t${one}\tx\n`));
});

test('the log writes JSON with --log_as_json', () => {
  const [line] = lines('info', true, log => log('warn', 'two\nlines "quoted"'));
  expect(line?.endsWith('\n')).toBe(true);
  expect(JSON.parse(line!)).toEqual({ time: '1970-01-01T00:00:01.000Z', level: 'warn', msg: 'two\nlines "quoted"' });
});

test('the log truncates a long message', () => {
  const [line] = lines('info', true, log => log('info', 'x'.repeat(MESSAGE_CHARS_MAX + 1)));
  expect((JSON.parse(line!) as { msg: string }).msg).toBe(`${'x'.repeat(MESSAGE_CHARS_MAX)}…`);
});

test('the log knows the names of its levels', () => {
  expect(['debug', 'none', 'verbose', 'toString'].map(isLogLevel)).toEqual([true, true, false, false]);
});

test('the log keeps a message on one line', () => {
  const written = lines('info', false, log => log('warn', 'refused: x\r\n1970-01-01T00:00:02.000Z\tinfo\tall is well'));
  expect(written).toEqual([
    '1970-01-01T00:00:01.000Z\twarn\trefused: x\\r\\n1970-01-01T00:00:02.000Z\tinfo\tall is well\n',
  ]);
});
