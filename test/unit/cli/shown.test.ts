// Names and messages of proxies and files on a terminal.

import { describe, expect, it } from 'vitest';
import { coloured, oneLine, shown } from '../../../src/cli/terminal.ts';

describe('text on a terminal', () => {
  it.each([
    ['clears the screen', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
    ['names the window', '\u001b]0;x\u0007', '\\u001b]0;x\\u0007'],
    ['begins with C1', '\u009b31m', '\\u009b31m'],
    ['turns the direction', 'a\u202eb\u2066', 'a\\u202eb\\u2066'],
    ['overwrites the line', 'a\rb\b', 'a\\u000db\\u0008'],
  ])('that %s is only shown', (_, text, shows) => {
    expect(shown(text)).toBe(shows);
  });

  it('keeps lines, tabs, colours of our own and letters of every script', () => {
    const text = `${coloured('a', 'red', true)}\t${coloured('b', 'dim', true)}\nשלום é 漢`;
    expect(shown(text)).toBe(text);
  });

  it('keeps a name on its line', () => {
    expect(oneLine('a\nok: verified')).toBe('a\\nok: verified');
  });
});
