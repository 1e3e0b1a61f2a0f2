import { describe, expect, it } from 'vitest';
import { redirectAction } from '../../../../../src/xds/generate/route/redirect.ts';
import { SHOP, shopScene } from './scene.ts';

const place = { port: 8080, https: false, prefixToken: false };

describe('a redirect', () => {
  it('sets the path even when it is empty', () => {
    expect(redirectAction({ authority: 'a.example.com' }, place)).toEqual({
      hostRedirect: 'a.example.com',
      pathRedirect: '',
    });
  });

  it.each([
    [301, undefined],
    [302, 1],
    [303, 2],
    [307, 3],
    [308, 4],
  ])('has the code %i', (redirectCode, responseCode) => {
    expect(redirectAction({ redirectCode }, place)?.responseCode).toBe(responseCode);
  });

  it('has no action with an invalid code, and reports it', () => {
    expect(redirectAction({ redirectCode: 304 }, place)).toBeUndefined();
    const scene = shopScene([{ redirect: { uri: '/x', redirectCode: 304 } }]);
    expect(scene.routes('client', '8080', SHOP)[0]?.redirect).toBeUndefined();
    const [found] = scene.resource('client', '8080').problems;
    expect(found?.path).toBe('VirtualService prod/shop spec.http[0].redirect.redirectCode');
  });

  it.each([
    [{ port: 8443 }, 8443],
    [{ derivePort: 'FROM_REQUEST_PORT' }, 8080],
    [{ derivePort: 'FROM_PROTOCOL_DEFAULT' }, undefined],
    [{ port: 443, scheme: 'https' }, undefined],
    [{ port: 80 }, undefined],
    [{ port: 443 }, 443],
  ] as const)('leads for %j to port %s', (redirect, port) => {
    expect(redirectAction(redirect, place)?.portRedirect).toBe(port);
  });

  it('keeps the scheme of a TLS server and omits its port', () => {
    expect(redirectAction({ port: 443 }, { ...place, https: true })?.portRedirect).toBeUndefined();
  });

  it('supports the prefix token of Gateway API only there', () => {
    const redirect = { uri: '%PREFIX()%/new' };
    expect(redirectAction(redirect, { ...place, prefixToken: true })?.prefixRewrite).toBe('/new');
    expect(redirectAction(redirect, place)?.pathRedirect).toBe('%PREFIX()%/new');
  });
});
