import { describe, expect, it } from 'vitest';
import { parseRouteName } from '../../../../../src/core/select/route/route-names.ts';

describe('the name of a route configuration', () => {
  it.each([
    ['8080', { port: 8080 }],
    ['65535', { port: 65_535 }],
    ['http_proxy', { port: 0 }],
    ['unix:///tmp/mesh.sock', { port: 0 }],
    ['shop.example.com:9000', { port: 9000, sniffedHost: 'shop.example.com' }],
  ])('%s says %j', (name, parts) => {
    expect(parseRouteName(name)).toEqual(parts);
  });

  it.each(['', 'x8080', '8080x', '65536', '080808', 'shop.example.com', 'shop.example.com:', 'shop.example.com:9000x'])(
    '%j is that of none',
    name => {
      expect(parseRouteName(name)).toBeUndefined();
    },
  );
});
