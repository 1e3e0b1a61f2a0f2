// Entries of the world log as text, and entries in parts.

import { describe, expect, it } from 'vitest';
import { chainAfter, ENTRY_FORMAT, type EntryHeader, entryText, parseEntry } from '../../../src/replicas/entry.ts';
import { parseNatsAddress } from '../../../src/replicas/nats/address.ts';
import { Assembly, splitEntry } from '../../../src/replicas/nats/parts.ts';
import { partsOf } from '../../../src/replicas/proposals.ts';

const header: EntryHeader = {
  format: ENTRY_FORMAT,
  log: 'a-log',
  id: 'east-1',
  writer: 'east',
  term: 3,
  time: 1_750_000_000_000,
  after: '',
  facts: 2,
};

describe('an entry of the world log', () => {
  it('is read as it was written', () => {
    const entry = { header, lines: ['{"a":1}', '{"b":"ü"}'] };
    expect(parseEntry(entryText(entry))).toEqual(entry);
  });

  it.each([
    ['nonsense', 'its first line is not JSON'],
    ['null', 'its first line is no header'],
    [JSON.stringify({ ...header, format: 2 }), 'it is of format 2, and 1 is known'],
    [JSON.stringify({ ...header, term: 'three' }), 'its header has no term'],
    [JSON.stringify(header), 'it has 0 facts, and its header says 2'],
  ])('is refused with its reason: %s', (text, why) => {
    expect(parseEntry(text)).toBe(why);
  });

  it('has a chain that depends on every entry before it and on each character', () => {
    const [first, other] = [chainAfter('', 'one'), chainAfter('', 'One')];
    expect(chainAfter(first, 'two')).not.toBe(chainAfter(other, 'two'));
    expect(chainAfter(first, 'two')).toBe(chainAfter(chainAfter('', 'one'), 'two'));
  });
});

describe('facts of one batch', () => {
  it('become several entries where they are too large for one, in order, and a larger fact one of its own', () => {
    expect([...partsOf(['aa', 'bb', 'cccccccc', 'd'], 5)]).toEqual([['aa', 'bb'], ['cccccccc'], ['d']]);
    expect([...partsOf([], 5)]).toEqual([]);
  });
});

describe('an entry in parts', () => {
  const text = 'ä'.repeat(11);
  const parts = splitEntry(text, 'east-1', 4);

  it('is whole after its last part, also where a part ends inside a character', () => {
    const assembly = new Assembly();
    expect(parts.length).toBe(6);
    expect(parts.map(part => assembly.add(part)).at(-1)).toBe(text);
  });

  it('is passed over if its writer stopped in the middle', () => {
    const assembly = new Assembly();
    for (const part of parts.slice(0, 3)) expect(assembly.add(part)).toBeUndefined();
    expect(assembly.add(splitEntry('b', 'west-1', 4)[0]!)).toBe('b');
    for (const part of parts.slice(3)) expect(assembly.add(part)).toBeUndefined();
  });
});

describe('the address of a world log', () => {
  it('names servers and a mesh', () => {
    expect(parseNatsAddress('nats://a:1,b,[::1]:3/prod')).toEqual({
      servers: ['a:1', 'b:4222', '[::1]:3'],
      isTls: false,
      mesh: 'prod',
    });
    expect(parseNatsAddress('tls://a/prod')).toMatchObject({ isTls: true });
  });

  it.each([
    ['nats://user:word@a:1/prod', /credentials do not belong into the address/],
    ['nats://a:1', /the name of the mesh/],
    ['nats://a:1/a b', /the name of the mesh/],
    ['nats://a:x/prod', /a:x is no HOST:PORT/],
    ['http://a/prod', /expected nats:/],
  ])('is refused with what was expected: %s', (text, why) => {
    expect(parseNatsAddress(text)).toMatch(why);
  });
});
