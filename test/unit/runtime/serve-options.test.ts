// The options of serve: addresses, settings of flags and environment, aliases of clusters.

import { describe, expect, test } from 'vitest';
import { parseAddress, parseClusterAliases, settingsFrom, showAddress } from '../../../src/runtime/serve-options.ts';

describe('a listen address', () => {
  test.each([
    [':15010', { host: '', port: 15_010 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:15010', { host: '::1', port: 15_010 }],
    ['istiod.svc:65535', { host: 'istiod.svc', port: 65_535 }],
  ])('of the form %s is accepted and printed unchanged', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(showAddress(address)).toBe(text);
  });
  test.each(['', '15010', ':', ':x', ':65536', '::1:80', '[::1]', 'a:b:1', ':-1', ' :80'])(
    'of the form %j is refused',
    text => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );
});

describe('settings of the command line', () => {
  const flags = { domainSuffix: 'cluster.local', clusterId: 'c', systemNamespace: 'istio-system' };
  test('contain flags, the revision, and only the feature flags of the environment', () => {
    const environment = { REVISION: 'canary', PILOT_HTTP10: 'true', HOME: '/root', TOKEN: 'secret' };
    const settings = settingsFrom({ ...flags, clusterAliases: { a: 'c' } }, environment);
    expect(settings).toMatchObject({ ...flags, revision: 'canary', clusterAliases: { a: 'c' } });
    expect(settings.env).toEqual({ PILOT_HTTP10: 'true' });
  });
  test('have the default revision if none is given', () => {
    expect(settingsFrom(flags, {}).revision).toBe('');
  });
  test.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    ['a=b,c=d,', { a: 'b', c: 'd' }],
    ['a', undefined],
    ['a=', undefined],
    ['=b', undefined],
    ['a=b=c', undefined],
  ])('turn the aliases %j into %j', (text, aliases) => {
    expect(parseClusterAliases(text)).toEqual(aliases);
  });
});
