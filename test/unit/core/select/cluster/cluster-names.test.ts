import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  outboundClusterName,
  parseClusterName,
  sniDnatName,
  vipClusterName,
  vipSubset,
} from '../../../../../src/core/select/cluster/cluster-names.ts';
import { parameters } from '../../../../property/seed.ts';

const hosts = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]{1,8}){0,3}$/);
const subsets = fc.constantFrom('', 'v1', 'canary-2');
const ports = fc.integer({ min: 1, max: 65535 });

describe('names of clusters', () => {
  it('are parsed into the parts they were built from', () => {
    fc.assert(
      fc.property(hosts, subsets, ports, (hostname, subset, port) => {
        const parts = { direction: 'outbound', port, subset, hostname };
        expect(parseClusterName(outboundClusterName(hostname, subset, port))).toEqual({ ...parts, sniDnat: false });
        expect(parseClusterName(sniDnatName(hostname, subset, port))).toEqual({ ...parts, sniDnat: true });
      }),
      parameters(100),
    );
  });

  it('say of a waypoint what is carried, and the subset', () => {
    for (const subset of ['', 'v1']) {
      const parts = parseClusterName(vipClusterName('a.com', 'http', subset, 80));
      expect(parts).toMatchObject({ direction: 'inbound-vip', port: 80, hostname: 'a.com' });
      expect(vipSubset(parts?.subset ?? '')).toBe(subset);
    }
    expect(vipClusterName('a.com', 'tcp', '', 80)).toBe('inbound-vip|80|tcp|a.com');
    expect(vipClusterName('a.com', 'tcp', 'v1', 80)).toBe('inbound-vip|80|tcp/v1|a.com');
  });

  it.each([
    ['outbound|9||a.com', 'outbound', 9, '', false],
    ['outbound|65535|v1|outbound_', 'outbound', 65_535, 'v1', false],
    ['outbound_.80_.v1_.a.com', 'outbound', 80, 'v1', true],
    ['inbound_.80_._.a.com', 'inbound', 80, '', true],
    ['inbound|8080||', 'inbound', 8080, '', false],
    ['inbound-vip|80|http/v1|a.com', 'inbound-vip', 80, 'http/v1', false],
  ])('tell from %s what it leads to', (name, direction, port, subset, sniDnat) => {
    expect(parseClusterName(name)).toMatchObject({ direction, port, subset, sniDnat });
  });

  it('have a subset behind a slash, which is none without one', () => {
    expect(['http', 'http/v1', '/v1', ''].map(vipSubset)).toEqual(['', 'v1', 'v1', '']);
  });

  it.each([
    'outbound_|80||a',
    'outbound|80_.v1_.a',
    'xoutbound_.80_.v1_.a',
    'BlackHoleCluster',
    '',
    'outbound|80|x',
    'sideways|80||a',
    'outbound|x||a',
    'outbound|80||a|b',
    '80||a|',
    'outbound|80',
    '|80||a',
    'outbound||x|a',
    'outbound|123456||a',
    'outbound|8/||a',
    'outbound|8:||a',
  ])('reject %s', name => {
    expect(parseClusterName(name)).toBeUndefined();
  });
});
