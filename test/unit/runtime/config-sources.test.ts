// Which control planes the mesh configuration names as sources, and what of their TLS settings is refused.

import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../../src/core/mesh/settings.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { configSourceOpener, credentialsOf, xdsSourcesIn } from '../../../src/runtime/config-sources.ts';

const list = (...addresses: readonly string[]): string =>
  `configSources:\n${addresses.map(address => `- address: ${address}\n`).join('')}`;

describe('the sources of a mesh configuration', () => {
  it('are those with the scheme xds, and the others are named', () => {
    const { sources, others } = xdsSourcesIn(
      list('xds://plane:15010', 'k8s://', 'fs:///etc/config', 'xds://[::1]:15010/'),
    );
    expect(sources.map(({ address }) => address)).toEqual(['plane:15010', '[::1]:15010']);
    expect(others).toEqual(['k8s://', 'fs:///etc/config']);
  });
  it.each(['', 'configSources: 3', '{', 'configSources:\n- address: 5\n'])('are none in %j', text => {
    expect(xdsSourcesIn(text)).toEqual({ sources: [], others: [] });
  });
  it.each(['xds://', 'xds://plane', 'xds://plane:port', 'xds://a b:1'])('must be an address: %s', address => {
    const { sources } = xdsSourcesIn(list(`"${address}"`));
    const open = configSourceOpener(defaultSettings, systemClock, () => {});
    expect(() => sources.map(open)).toThrow('expected xds://HOST:PORT');
  });
});

describe('the TLS settings of a source', () => {
  it('are plain text for DISABLE or none', () => {
    for (const tls of [undefined, {}, { mode: 'DISABLE' }]) {
      expect(credentialsOf('plane:1', tls).secured._isSecure()).toBe(false);
    }
  });
  it('are TLS for SIMPLE, with the name that is asked for', () => {
    const { secured, channel } = credentialsOf('plane:1', { mode: 'SIMPLE', sni: 'plane.example.com' });
    expect(secured._isSecure()).toBe(true);
    expect(channel['grpc.ssl_target_name_override']).toBe('plane.example.com');
  });
  it.each([
    [{ mode: 'ISTIO_MUTUAL' }, 'ISTIO_MUTUAL is not supported'],
    [{ mode: 'MUTUAL' }, 'needs clientCertificate and privateKey'],
    [{ mode: 'SIMPLE', credentialName: 'x' }, 'credentialName is not supported'],
    [{ mode: 'SIMPLE', caCertificates: '/nowhere/ca.pem' }, '/nowhere/ca.pem cannot be read (ENOENT)'],
  ])('are refused rather than weakened: %j', (tls, why) => {
    expect(() => credentialsOf('plane:1', tls)).toThrow(why);
  });
});
