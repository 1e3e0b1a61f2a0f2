import { describe, expect, it } from 'vitest';
import { headerOperations } from '../../../../../src/xds/generate/route/header-operations.ts';

describe('header operations', () => {
  it('ignore pseudo headers and the host in every list', () => {
    const operations = {
      set: { ':path': '/', a: '1' },
      add: { HOST: 'x', ':method': 'GET' },
      remove: ['Host', ':path', 'b'],
    };
    const made = headerOperations({ request: operations, response: operations });
    expect(made.requestHeadersToAdd.map(({ header }) => header?.key)).toEqual(['a']);
    expect(made.requestHeadersToRemove).toEqual(['b']);
    expect(made.responseHeadersToAdd.map(({ header }) => header?.key)).toEqual(['a']);
    expect(made.responseHeadersToRemove).toEqual(['b']);
  });

  it('rewrite the authority of requests: `set` before `add`, `:authority` before `host`', () => {
    const authority = (set: Record<string, string>, add: Record<string, string> = {}): string =>
      headerOperations({ request: { set, add } }).authority;
    expect(authority({ host: 'h', ':authority': 'a' })).toBe('a');
    expect(authority({ host: 'set' }, { ':authority': 'added' })).toBe('set');
    expect(authority({}, { Host: 'added' })).toBe('added');
    expect(authority({})).toBe('');
    expect(authority({ host: '' }, { host: 'added' })).toBe('added');
    expect(headerOperations({ response: { set: { host: 'h' } } }).authority).toBe('');
  });
});
