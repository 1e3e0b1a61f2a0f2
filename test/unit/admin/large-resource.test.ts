import { describe, expect, it } from 'vitest';
import { jsonParts, type LazyJson } from '../../../src/admin/json-text.ts';
import { LARGE_BYTES, shownInPieces } from '../../../src/admin/large-resource.ts';
import { withoutPrivateKeys } from '../../../src/history/private-fields.ts';
import { encodeResource } from '../../../src/xds/engine/encode.ts';
import { RDS, SDS } from '../../../src/xds/session/types.ts';
import { toProtoJson } from '../../../src/xds/wire/protojson.ts';
import { typeOf } from '../../../src/xds/wire/registry.ts';
import { countLoopTurns } from '../loop-turns.ts';

const HOSTS = 400;

/** A route configuration with a field before the list of its hosts and others behind it. */
function routes(hosts: number): Buffer {
  const host = (i: number) => ({
    name: `web-${i}.example.com:80`,
    domains: [`web-${i}.example.com`, '*.internal'],
    routes: Array.from({ length: i === 7 ? 300 : 1 }, (_, n) => ({
      match: { prefix: `/${n}` },
      route: { cluster: `outbound|80||web-${i}.example.com` },
    })),
  });
  const message = {
    name: '80',
    virtualHosts: Array.from({ length: hosts }, (_, i) => host(i)),
    validateClusters: { value: false },
    ignorePortInHostMatching: true,
  };
  return encodeResource(RDS, '80', message).body;
}

const whole = (body: Buffer): string =>
  `${JSON.stringify(withoutPrivateKeys(toProtoJson('google.protobuf.Any', body)), null, 2)}\n`;

const jsonText = async (value: LazyJson): Promise<string> => Buffer.concat(await jsonParts(value)).toString();

describe('large resources as JSON', () => {
  it('have the text of JSON in one piece, nested lists included', async () => {
    const body = routes(HOSTS);
    expect(body.length).toBeGreaterThan(2 * LARGE_BYTES);
    expect(await jsonText(shownInPieces(body))).toBe(whole(body));
    expect(await jsonText(shownInPieces(routes(1)))).toBe(whole(routes(1)));
  });

  it('let other work continue in between', async () => {
    const body = routes(HOSTS);
    const loop = countLoopTurns(() => undefined);
    await jsonText(shownInPieces(body));
    loop.stop();
    expect(loop.turns).toBeGreaterThan(HOSTS / 16);
  });

  it('show no private key', async () => {
    const secret = (i: number) => ({ privateKey: { inlineString: `hidden-${i}` } });
    const certificate = { ...secret(0), certificateChain: { inlineString: 'c'.repeat(2 * LARGE_BYTES) } };
    const { body } = encodeResource(SDS, 's', { name: 's', tlsCertificate: certificate });
    expect(await jsonText(shownInPieces(body))).toBe(whole(body));
    expect(await jsonText(shownInPieces(body))).not.toContain(Buffer.from('hidden-0').toString('base64'));
    expect(await jsonText(shownInPieces(body))).not.toContain('hidden-0');
  });

  it('show the bytes of content that is not a message of its type', async () => {
    const any = { typeUrl: RDS, value: Buffer.alloc(LARGE_BYTES, 0xff) };
    const body = Buffer.from(typeOf('google.protobuf.Any').encode(any).finish());
    expect(await jsonText(shownInPieces(body))).toBe(whole(body));
  });
});
